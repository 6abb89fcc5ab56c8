#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// The main function of a tool's program (src/cli/tools.hpp): its options, what it does, and the exit status
/// of the process.
[[nodiscard]] int tool_main(const Subcommand& tool, int argc, char** argv);

}  // namespace collbench::program
