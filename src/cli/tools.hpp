#pragma once
#include <span>
#include <string>
#include <string_view>

#include "src/cli/command_description.hpp"

// Commands that are programs of their own, as git's are: `collbench NAME` becomes collbench-NAME, which lies
// beside it. A tool is a folder of tools/; nothing in the core includes it.

namespace collbench::program {

struct Tool {
  const char* name;
  const char* help;
  const char* example;  ///< a line of its own help
};

/// The argument to which a tool answers with all that it takes (command_description_to_json).
inline constexpr const char* kDescribeTool = "--describe";

/// All tools of collbench, in the order of its help; whether one is installed is not asked.
[[nodiscard]] std::span<const Tool> tools();

[[nodiscard]] const Tool& tool_named(std::string_view name);

/// The path of a tool's program. Throws as beside_this_program.
[[nodiscard]] std::string program_of_tool(std::string_view name);

/// The path of a program that lies beside this one, wherever that was started from. Throws Error (not_here)
/// where the system does not say: a bare name would be looked for in the current folder.
[[nodiscard]] std::string beside_this_program(std::string_view name);

/// Throws Error (not_here) where a tool's program is missing.
void require_tool(std::string_view name);

/// Replaces this process by a tool's program where the command line asks for one ("collbench plan …" or
/// "collbench help plan"); returns where it does not. Throws Error (not_here) where the program is missing.
/// `reports`: whether this rank says what has a new name.
void become_tool(int argc, char** argv, bool reports);

/// `core` with what each tool that is here says of itself in place of its line; of those that stand in
/// `words`, where there are any.
[[nodiscard]] CommandDescription with_tools(CommandDescription core,
                                            const std::vector<std::string>& words = {});

}  // namespace collbench::program
