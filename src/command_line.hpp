#pragma once
#include <string>
#include <variant>
#include <vector>

#include "src/cli/command_description.hpp"
#include "src/commands/registry.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// What the command line asks for: a run, on all ranks, or a command that needs none.
using Command = std::variant<RunOptions, CommandFunction>;

/// Reads the command line. Throws Error (usage) that names the option and what it takes.
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

/// The same for a tool's program, of the words behind its name.
[[nodiscard]] CommandFunction parse_tool_line(const Subcommand& tool, std::vector<std::string> words);

/// What a tool takes, as "collbench NAME".
[[nodiscard]] CommandDescription describe_tool(const Subcommand& tool);

/// Runs a command and prints what it says; the exit status of the process. Throws Error.
[[nodiscard]] int finish_command(const CommandFunction& command);

}  // namespace collbench::program
