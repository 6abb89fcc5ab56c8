#include "collectives/engine/block_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace collbench::collectives {

BlockPlan plan_block(double iteration_seconds, double block_seconds, double sample_seconds,
                     const FixedCounts& fixed) {
  constexpr double kMaxIterations = 1e9;
  // A simulated operation may take no time at all.
  const double each = std::max(iteration_seconds, 1e-9);
  const auto whole = [&](double value) {
    return static_cast<std::uint64_t>(std::clamp(value, 1.0, kMaxIterations));
  };
  const std::uint64_t fitting = whole(std::floor(block_seconds / each));
  const auto in_groups = [group = fixed.per_group](std::uint64_t operations) {
    return (operations + group - 1) / group * group;
  };
  BlockPlan plan{.run = true};
  if (fixed.graph_launches) {
    const std::uint64_t in_graph =
        fixed.iterations
            ? *fixed.iterations * fixed.per_group
            : in_groups(std::clamp<std::uint64_t>(fitting / *fixed.graph_launches, 1, kMaxInGraph));
    plan.iterations = in_graph * *fixed.graph_launches;
    plan.iterations_per_sample = in_graph;
    plan.warmup =
        fixed.warmup ? *fixed.warmup * fixed.per_group : in_groups(std::max<std::uint64_t>(1, in_graph / 10));
    return plan;
  }
  plan.iterations = fixed.iterations ? *fixed.iterations * fixed.per_group : in_groups(fitting);
  plan.warmup = fixed.warmup ? *fixed.warmup * fixed.per_group
                             : in_groups(std::max<std::uint64_t>(1, plan.iterations / 10));
  const std::uint64_t for_the_clock = std::bit_ceil(whole(std::ceil(sample_seconds / each)));
  plan.iterations_per_sample = std::min(plan.iterations, in_groups(for_the_clock));
  return plan;
}

}  // namespace collbench::collectives
