#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// `collbench plan`.
[[nodiscard]] Subcommand plan_subcommand();

}  // namespace collbench::program
