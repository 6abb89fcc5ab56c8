#include "analysis/report/report.hpp"

#include <fmt/format.h>

#include "analysis/report/csv.hpp"
#include "analysis/report/markdown.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

std::string report(const Run& run, std::string_view format, const TextOptions& options) {
  if (format == "text") return report_text(run, options);
  if (format == "md") return report_markdown(run);
  if (format == "csv") return report_csv(run);
  if (format == "json") return to_json_text(run);
  throw usage_error("--format", fmt::format("'{}' is no format of a report", format),
                    "choose text, md, csv or json");
}

}  // namespace collbench::analysis
