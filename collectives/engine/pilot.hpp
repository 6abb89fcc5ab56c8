#pragma once
#include "collectives/engine/backend.hpp"
#include "collectives/engine/block_plan.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

/// How long an iteration takes, on the slowest rank: times longer and longer runs until one tells, by which a
/// block of `block_seconds` can be planned. The same on all ranks. Collective.
[[nodiscard]] double pilot(launch::Ranks& ranks, PreparedRow& prepared, double block_seconds,
                           const FixedCounts& fixed);

}  // namespace collbench::collectives
