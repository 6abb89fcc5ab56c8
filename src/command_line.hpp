#pragma once
#include <string>
#include <variant>

#include "src/import_command.hpp"
#include "src/judge_command.hpp"
#include "src/predict_command.hpp"
#include "src/repeat_command.hpp"
#include "src/report_command.hpp"
#include "src/run_options.hpp"
#include "src/topology_command.hpp"

namespace collbench {

/// --help, --version: text to print, and success.
struct TextAnswer {
  std::string text;
};

using Command = std::variant<RunOptions, RepeatOptions, ReportOptions, TopologyOptions, ImportCommand,
                             PredictOptions, JudgeOptions, TextAnswer>;

/// Reads the command line. Throws Error (usage) that names the option and what it takes.
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace collbench
