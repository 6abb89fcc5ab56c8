#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace CLI {
class App;
}

namespace collbench::program {

/// What a command that needs no ranks prints on stdout, and its exit status.
struct CommandResult {
  std::string text;
  ExitStatus status = ExitStatus::ok;
  bool is_for_a_person = true;          ///< no CSV, JSON or Markdown, which are UTF-8 everywhere
  std::vector<std::string> notes = {};  ///< lines for stderr: what stdout or a file does not say
};

/// A command with its options parsed. Throws Error.
using CommandFunction = std::function<CommandResult()>;

/// One subcommand: a file of this folder that holds its options and what it does.
struct Subcommand {
  const char* name;
  const char* help;     ///< a line of collbench --help
  const char* example;  ///< lines of its own help, indented but for the first; empty: none
  /// Adds the options to `command`, and a callback that leaves in `chosen` what is run after parsing.
  void (*add)(CLI::App& command, CommandFunction& chosen);
};

// Each is defined in the file of its name. A new one is that file, a declaration and a line of the list
// below.
Subcommand repeat_subcommand();
Subcommand report_subcommand();
Subcommand topo_subcommand();
Subcommand predict_subcommand();
Subcommand judge_subcommand();
Subcommand compare_subcommand();
Subcommand flight_subcommand();
Subcommand doctor_subcommand();
Subcommand counters_subcommand();
Subcommand report_bug_subcommand();
Subcommand man_subcommand();
Subcommand completion_subcommand();

/// All subcommands of collbench, in the order of its help.
[[nodiscard]] inline std::vector<Subcommand> subcommands() {
  return {
      repeat_subcommand(),  report_subcommand(),     judge_subcommand(),  predict_subcommand(),
      compare_subcommand(), topo_subcommand(),       doctor_subcommand(), counters_subcommand(),
      flight_subcommand(),  report_bug_subcommand(), man_subcommand(),    completion_subcommand(),
  };
}

// Two of the subcommands of topo, which lists them.
Subcommand topo_diff_subcommand();
Subcommand topo_draw_subcommand();

}  // namespace collbench::program
