#pragma once
#include <string>

#include "tools/burnin/command/options.hpp"

namespace collbench::program {

/// Rounds, pairs and minutes of each phase, without measuring: the seconds of measuring alone, for how long
/// launchers take to start nobody knows in advance.
[[nodiscard]] std::string plan_of(const BurninOptions& options);

}  // namespace collbench::program
