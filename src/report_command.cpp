#include "src/report_command.hpp"

#include "analysis/report.hpp"
#include "base/record/run_stream.hpp"
#include "src/input_text.hpp"
#include "src/text_options.hpp"

namespace collbench {

std::string report_command(const ReportOptions& options) {
  const Run run = run_from_text(input_text(options.record), input_name(options.record));
  if (options.lab01.asked) return lab01(run, options.lab01);
  return report(run, options.format, text_options(options.colour, false));
}

}  // namespace collbench
