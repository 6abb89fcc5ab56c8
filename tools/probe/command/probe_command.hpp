#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// The options of `collbench probe`, and a callback that leaves in `chosen` what is run after parsing.
void add_probe(CLI::App& command, CommandFunction& chosen);

}  // namespace collbench::program
