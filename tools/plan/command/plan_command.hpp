#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// The options of `collbench plan`, and a callback that leaves in `chosen` what is run after parsing.
void add_plan(CLI::App& command, CommandFunction& chosen);

}  // namespace collbench::program
