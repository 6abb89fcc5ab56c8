#pragma once
#include "base/clock.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/engine/block_plan.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

/// How long an iteration takes, on the slowest rank: times longer and longer runs until one tells, by which a
/// block of `block_seconds` can be planned. The same on all ranks. Collective.
[[nodiscard]] double pilot(launch::Ranks& ranks, PreparedRow& prepared, double block_seconds,
                           const FixedCounts& fixed);

/// A block that was planned for a tenth of it, or its warm-up, ends when it takes so long: its calls became
/// much slower since they were measured, as those of ranks that came to share a core.
inline constexpr double kMaxBlockSeconds = 1;

/// Seconds since `begin` on the slowest rank; the same on every rank. Collective; the ranks leave it
/// together.
[[nodiscard]] double slowest_since(launch::Ranks& ranks, const Clock& clock, double begin);

/// What a block is planned by.
struct BlockTarget {
  double block_seconds = 0;
  double sample_seconds = 0;
  double left_seconds = 0;  ///< of the run, on rank 0
};

/// Runs the warm-up of `plan`, and says how the block is run then: as planned, or, where the warm-up took far
/// too long and was ended, with as many calls as fit by what they take now. Its `warmup` is how many calls
/// there were. A warm-up that the user fixed ends where the time of the run does, and one before a number of
/// iterations that the user fixed does not. The same on all ranks. Collective.
[[nodiscard]] BlockPlan warm_up(launch::Ranks& ranks, const Clock& clock, PreparedRow& prepared,
                                const BlockPlan& plan, const BlockTarget& target, const FixedCounts& fixed);

}  // namespace collbench::collectives
