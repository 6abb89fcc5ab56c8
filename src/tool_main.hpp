#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// The main function of the program of the tool `name` (src/cli/tools.hpp): its options, which `add` adds,
/// what it does, and the exit status of the process.
[[nodiscard]] int tool_main(const char* name, void (*add)(CLI::App& command, CommandFunction& chosen),
                            int argc, char** argv);

}  // namespace collbench::program
