#pragma once
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "collectives/engine/backend.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

/// How one block of a row is run. Chosen on rank 0 and sent to all, so that ranks can never disagree.
struct BlockPlan {
  bool run = false;  ///< false: the row is done, or there is no time left
  bool check = false;
  std::uint64_t warmup = 1;
  std::uint64_t iterations = 1;
  std::uint64_t iterations_per_sample = 1;
};

/// A sample takes at least so many readings of the clock: a reading is then less than 1 % of it.
inline constexpr double kClockReadsPerSample = 100;
/// No clock is read in less than 10 ns.
inline constexpr double kMinSampleSeconds = 1e-6;

/// A graph holds at most so many iterations when nobody says how many.
inline constexpr std::uint64_t kMaxInGraph = 1000;

/// What the user fixed: `iterations` with -n, `warmup` with -w, both counted in groups of `per_group`
/// operations with -m; and with -G how often a block launches a graph of iterations, whose number -n then is,
/// as in nccl-tests.
struct FixedCounts {
  std::optional<std::uint64_t> iterations{};
  std::optional<std::uint64_t> warmup{};
  std::uint64_t per_group = 1;
  std::optional<std::uint64_t> graph_launches{};
};

/// As many iterations of about `iteration_seconds` as fit `block_seconds`; a tenth as many to warm up; whole
/// groups of all of them. A sample is the power of two of iterations that takes `sample_seconds` or a little
/// more, so that two runs of a row, which never find quite the same time, mean the same by it. What is fixed
/// overrides it. With graphs, a sample is a launch.
[[nodiscard]] BlockPlan plan_block(double iteration_seconds, double block_seconds, double sample_seconds,
                                   const FixedCounts& fixed);

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
