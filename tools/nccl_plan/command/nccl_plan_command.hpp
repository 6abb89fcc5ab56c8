#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// The options of `collbench nccl-plan`, and a callback that leaves in `chosen` what is run after parsing.
void add_nccl_plan(CLI::App& command, CommandFunction& chosen);

}  // namespace collbench::program
