#include "src/repeat_options.hpp"

#include "src/add_option.hpp"
#include "src/option_values.hpp"

namespace collbench {

void add_repeat_command(CLI::App& app, RepeatOptions& repeat) {
  CLI::App* command =
      app.add_subcommand("repeat",
                         "launches again and again, until the median over launches is as certain as asked:\n"
                         "  collbench repeat -J runs.json -- mpirun -np 16 collbench --ops all_reduce");
  command
      ->add_option("command", repeat.command,
                   "what starts one launch; it ends in collbench and its options (--time 20 is added where "
                   "it has neither "
                   "--time nor -n)")
      ->required()
      ->option_text("-- COMMAND...");
  const std::string theme = "Options";
  const auto add = [&](const std::string& names, const std::string& value, const std::string& help,
                       const std::function<void(const std::string&)>& take) {
    return add_option(*command, theme, names, value, help, take);
  };
  add("--launches", "N", "at most so many; 1: watches over one launch (30)",
      [&repeat](const std::string& text) {
        repeat.most_launches = parse_number(text, "--launches", 1, 10'000);
      });
  add("--precision", "PERCENT", "done when every row's 95 % interval over launches is within +- this (5)",
      [&repeat](const std::string& text) {
        repeat.precision = parse_number(text, "--precision", 0.01, 1000.0) / 100;
      });
  add("--every", "SECONDS", "start one at most so often, so that the interval holds for longer (0)",
      [&repeat](const std::string& text) { repeat.every_seconds = parse_number(text, "--every", 0.0, 1e6); });
  add("-T,--timeout", "SECONDS", "a launch that takes longer hangs (1800)",
      [&repeat](const std::string& text) { repeat.launch_seconds = parse_number(text, "-T", 1.0, 1e7); });
  add("-J,--output", "FILE", "the record of all launches; FILE.launches/ keeps that of each",
      [&repeat](const std::string& text) { repeat.record_path = text; });
  command
      ->add_flag("--resume", repeat.resume,
                 "go on from the launches beside -J that an interruption left there")
      ->group(theme);
  command->add_flag("--overwrite", repeat.overwrite, "replace files that exist")->group(theme);
  add_format_option(*command, theme, repeat.format);
  add_color_option(*command, theme, repeat.colour);
  add("--progress", "WHEN", "auto, always or never, on stderr (auto: on a terminal)",
      [&repeat](const std::string& text) { repeat.progress = parse_when(text, "--progress"); });
}

}  // namespace collbench
