#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// The options of the tool whose program this is, and a callback that leaves in `chosen` what is run after
/// parsing: each tool defines it.
void add_tool(CLI::App& command, CommandFunction& chosen);

/// The main function of the program of the tool `name` (src/cli/tools.hpp): its options, which `add` adds,
/// what it does, and the exit status of the process.
[[nodiscard]] int tool_main(const char* name, void (*add)(CLI::App& command, CommandFunction& chosen),
                            int argc, char** argv);

}  // namespace collbench::program
