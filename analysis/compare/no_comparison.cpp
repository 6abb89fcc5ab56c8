#include <fmt/format.h>

#include <string>

#include "analysis/compare/comparison_report.hpp"
#include "analysis/report/html/page.hpp"
#include "analysis/report/text_layout.hpp"
#include "base/record/json_fields.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {

std::string report_no_comparison(const std::string& file, const std::string& reason, std::string_view format,
                                 const TextOptions& options) {
  const std::string line = file + ": " + reason;
  if (format == "json") return json_document({{"comparison", nullptr}, {"reason", line}});
  if (format == "html")
    return page_text(
        html_page("Not compared", {}, {{"outcome", "Outcome", html_list({{line, Tone::warning}})}}));
  if (format == "csv")
    return fmt::format("new,change,notes\n{},not compared,{}\n", csv_cell(file), csv_cell(reason));
  if (format == "md") return "**Not compared**: " + markdown_text(line) + "\n";
  return wrap(one_line(line), options.columns, "# ", "#   ");
}

}  // namespace collbench::analysis
