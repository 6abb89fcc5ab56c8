#include "src/judge_options.hpp"

#include "src/add_option.hpp"

namespace collbench {

void add_judge_command(CLI::App& app, JudgeOptions& judge) {
  CLI::App* command =
      app.add_subcommand("judge", "a run on GPUs against a topology: judge run.json --topology hgx-h100");
  command->add_option("record", judge.record, "the record that -J or import wrote")->required();
  const std::string theme = "Options";
  add_option(*command, theme, "--topology", "NAME|FILE",
             "a reference machine, or a file that describes a node (as given to import)",
             [&judge](const std::string& text) { judge.topology = text; });
  add_option(*command, theme, "--transport", "NAME",
             "what carried the bytes, where the log does not say: ib, roce, efa, tcpx, tcpxo, plugin, staged "
             "or sockets",
             [&judge](const std::string& text) { judge.transport = text; });
  command->add_flag("--own-floor", judge.own_floor, "take the latency from the record's own smallest row")
      ->group(theme);
  add_format_option(*command, theme, judge.format);
  add_color_option(*command, theme, judge.colour);
}

}  // namespace collbench
