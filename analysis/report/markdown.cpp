#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/report/columns.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {
namespace {

std::string section(const Run& run, OperationId id, const TextOptions& options) {
  const int ranks = static_cast<int>(run.ranks.size());
  const std::vector<ReportRow> shown = rows_of(run, id);
  std::string text = "\n## " + std::string(operation(id).name) + "\n";
  if (!shown.empty())
    text += markdown_text(operation_line(id, ranks).text) + "\n\n" +
            markdown_table(table_of_rows(shown, columns_for(run, shown)));
  if (!shown.empty() && options.percentiles) {
    const std::vector<const ReportColumn*> columns = percentile_columns(shown);
    text += "\n" + markdown_text(columns.empty() ? kNoPercentiles : kPercentilesTitle) + "\n";
    if (!columns.empty()) text += "\n" + markdown_table(table_of_rows(shown, columns));
  }
  const std::string unavailable = markdown(unavailable_lines(run, id));
  return unavailable.empty() ? text : text + "\n" + unavailable;
}

}  // namespace

std::string report_markdown(const Run& run, const TextOptions& options) {
  std::string text = "# collbench report\n\n" + markdown(verdict_headline(run)) +
                     markdown(header_lines(run)) + markdown(legend_lines(run)) +
                     "- bold: what a terminal shows in yellow or red, such as meas/exp below 0.80\n";
  for (const OperationId id : operations_in(run)) text += section(run, id, options);
  return text + "\n## Outcome\n" + markdown(footer_lines(run));
}

}  // namespace collbench::analysis
