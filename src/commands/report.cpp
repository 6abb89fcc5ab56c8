#include "src/commands/report.hpp"

#include "analysis/report/report.hpp"
#include "base/record/run_stream.hpp"
#include "src/cli/add_option.hpp"
#include "src/cli/output.hpp"

namespace collbench::program {

std::string report_command(const ReportOptions& options) {
  const Run run = run_from_text(input_text(options.record), input_name(options.record));
  if (options.lab01.asked) return lab01(run, options.lab01);
  return analysis::report(run, options.format, text_options(options.colour, false));
}

void add_report_command(CLI::App& app, ReportOptions& report) {
  CLI::App* command = app.add_subcommand("report", "writes a saved run record as text, md, csv or json");
  command->add_option("record", report.record, "the record that -J wrote; - for stdin")->required();
  const std::string theme = "Options";
  add_format_option(*command, theme, report.format, analysis::format_names(&analysis::ReportFormat::run));
  add_color_option(*command, theme, report.colour);
  add_option(*command, theme, "--topology", "NAME|FILE", "the machine of the run, for lab01",
             [&report](const std::string& text) { report.lab01.topology = text; });
  add_lab01_options(*command, theme, report.lab01);
}

}  // namespace collbench::program
