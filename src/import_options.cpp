#include "src/import_options.hpp"

#include <functional>

#include "src/add_option.hpp"
#include "src/lab01_options.hpp"
#include "src/option_values.hpp"

namespace collbench {
void add_import_command(CLI::App& app, ImportCommand& command) {
  CLI::App* import = app.add_subcommand(
      "import",
      "somebody's nccl-tests output, text or JSON: import all_reduce.log --topology hgx-h100 -o run.json");
  import->add_option("logs", command.logs, "what nccl-tests printed, or wrote with -J")
      ->required()
      ->option_text("LOG...");
  const std::string theme = "Options";
  const auto add = [&](const std::string& names, const std::string& value, const std::string& help,
                       const std::function<void(const std::string&)>& take) {
    add_option(*import, theme, names, value, help, take);
  };
  const auto count = [](const std::string& text, const std::string& option) {
    return parse_number(text, option, 1, 1'000'000);
  };
  add("-o,--output", "FILE", "write the run record there, instead of the tables to stdout",
      [&command](const std::string& text) { command.record_path = text; });
  import->add_flag("--overwrite", command.overwrite, "replace a file that exists")->group(theme);
  add("--topology", "NAME|FILE", "the machine of the log, kept in the record for the verdict",
      [&command](const std::string& text) { command.options.topology = text; });
  add("--nodes", "N", "nodes of the job, where the log does not say",
      [&command, count](const std::string& text) { command.options.job.nodes = count(text, "--nodes"); });
  add("--ranks-per-node", "N", "likewise", [&command, count](const std::string& text) {
    command.options.job.ranks_per_node = count(text, "--ranks-per-node");
  });
  add("--operation", "NAME", "what was measured, where the log does not say",
      [&command](const std::string& text) {
        command.options.operation = parse_operation(text, "--operation");
      });
  add("--run", "N", "which run of a log that holds several",
      [&command, count](const std::string& text) { command.options.run = count(text, "--run"); });
  add_format_option(*import, theme, command.format);
  add_color_option(*import, theme, command.colour);
  add_lab01_options(*import, theme, command.lab01);
}

}  // namespace collbench
