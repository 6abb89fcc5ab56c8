#pragma once
#include <string>
#include <variant>

#include "src/commands/registry.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// What the command line asks for: a run, on all ranks, or a command that needs none.
using Command = std::variant<RunOptions, CommandFunction>;

/// The text of a command's help in lines of at most `columns` columns, 60 at least and 100 at most: what is
/// longer goes on below its own beginning, that of an option below its description.
[[nodiscard]] std::string wrapped_help(const std::string& text, int columns);

/// Reads the command line. Throws Error (usage) that names the option and what it takes.
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace collbench::program
