#pragma once
#include <string>
#include <variant>

#include "src/commands/import.hpp"
#include "src/commands/judge.hpp"
#include "src/commands/predict.hpp"
#include "src/commands/repeat.hpp"
#include "src/commands/report.hpp"
#include "src/commands/topology.hpp"
#include "src/options/run_options.hpp"

namespace collbench::program {

/// --help, --version: text to print, and success.
struct TextAnswer {
  std::string text;
};

using Command = std::variant<RunOptions, RepeatOptions, ReportOptions, TopologyOptions, ImportCommand,
                             PredictOptions, JudgeOptions, TextAnswer>;

/// Reads the command line. Throws Error (usage) that names the option and what it takes.
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace collbench::program
