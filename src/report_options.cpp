#include "src/report_options.hpp"

#include "src/add_option.hpp"
#include "src/lab01_options.hpp"

namespace collbench {

void add_report_command(CLI::App& app, ReportOptions& report) {
  CLI::App* command = app.add_subcommand("report", "writes a saved run record as text, md, csv or json");
  command->add_option("record", report.record, "the record that -J wrote; - for stdin")->required();
  const std::string theme = "Options";
  add_format_option(*command, theme, report.format);
  add_color_option(*command, theme, report.colour);
  add_option(*command, theme, "--topology", "NAME|FILE", "the machine of the run, for lab01",
             [&report](const std::string& text) { report.lab01.topology = text; });
  add_lab01_options(*command, theme, report.lab01);
}

}  // namespace collbench
