#pragma once
#include "src/commands/registry.hpp"

namespace collbench::program {

/// `collbench launch`.
[[nodiscard]] Subcommand launch_subcommand();

}  // namespace collbench::program
