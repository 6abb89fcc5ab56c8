#pragma once
#include <variant>

#include "src/commands/registry.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// What the command line asks for: a run, on all ranks, or a command that needs none.
using Command = std::variant<RunOptions, CommandFunction>;

/// Reads the command line. Throws Error (usage) that names the option and what it takes.
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace collbench::program
