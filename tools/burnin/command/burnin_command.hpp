#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// The options of `collbench burnin`, and a callback that leaves in `chosen` what is run after parsing.
void add_burnin(CLI::App& command, CommandFunction& chosen);

}  // namespace collbench::program
