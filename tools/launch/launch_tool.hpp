#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// The options of `collbench launch`, and a callback that leaves in `chosen` what is run after parsing.
void add_launch(CLI::App& command, CommandFunction& chosen);

}  // namespace collbench::program
