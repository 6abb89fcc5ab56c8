#include "collectives/engine/block_plan.hpp"

#include <algorithm>
#include <array>
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

namespace {

/// Of `iterations` iterations on the slowest rank; the same on every rank.
double seconds_of(launch::Ranks& ranks, PreparedRow& prepared, std::uint64_t iterations) {
  ranks.barrier();
  std::array<double, 1> seconds{prepared.time(iterations, iterations, {}).elapsed_seconds};
  ranks.reduce(seconds, launch::RankAggregate::maximum);
  return seconds[0];
}

constexpr std::uint64_t kFirstPiece = 256;  // calls, after which it is known whether they became slow
constexpr double kPieceSeconds = 0.1;       // of a warm-up that the user fixed

}  // namespace

double pilot(launch::Ranks& ranks, PreparedRow& prepared, double block_seconds, const FixedCounts& fixed) {
  const double enough = std::min(block_seconds / 10, 1e-3);
  const std::uint64_t most = fixed.iterations.value_or(fixed.graph_launches ? kMaxInGraph : 10'000'000);
  for (std::uint64_t iterations = 1;; iterations = std::min(iterations * 10, most)) {
    // The shorter of two: the other may have waited for a core.
    const double first = seconds_of(ranks, prepared, iterations);
    const double seconds = std::min(first, seconds_of(ranks, prepared, iterations));
    // Rank 0 decides: it may know of less time than others.
    if (launch::broadcast_value(ranks, seconds >= enough || iterations >= most))
      return seconds / static_cast<double>(iterations);
  }
}

double slowest_since(launch::Ranks& ranks, const Clock& clock, double begin) {
  std::array<double, 1> seconds{clock.seconds() - begin};
  ranks.reduce(seconds, launch::RankAggregate::maximum);
  ranks.barrier();
  return seconds[0];
}

BlockPlan warm_up(launch::Ranks& ranks, const Clock& clock, PreparedRow& prepared, const BlockPlan& plan,
                  const BlockTarget& target, const FixedCounts& fixed) {
  const double begin = clock.seconds();
  const bool is_asked = fixed.warmup && !fixed.iterations;
  const bool is_bounded = is_asked || (!fixed.iterations && !fixed.graph_launches);
  const double limit = is_asked ? launch::broadcast_value(ranks, target.left_seconds) : kMaxBlockSeconds;
  std::uint64_t piece = is_asked ? 1 : is_bounded ? kFirstPiece : plan.warmup;
  double before = 0;
  for (std::uint64_t done = 0; done < plan.warmup;) {
    const std::uint64_t calls = std::min(piece, plan.warmup - done);
    prepared.run(calls);
    done += calls;
    if (done == plan.warmup) break;
    const double seconds = slowest_since(ranks, clock, begin);
    if (!is_asked) {
      piece = kCallsBetweenQuestions;
    } else if (seconds - before < kPieceSeconds) {
      piece = std::min(4 * piece, kCallsBetweenQuestions);
    }
    before = seconds;
    if (seconds < limit) continue;
    BlockPlan now = plan_block(seconds / static_cast<double>(done), is_asked ? 0 : target.block_seconds,
                               target.sample_seconds, fixed);
    now.warmup = done;
    now.iterations_per_sample = std::min(now.iterations, plan.iterations_per_sample);
    now.check = plan.check;
    return launch::broadcast_value(ranks, now);
  }
  return plan;
}

}  // namespace collbench::collectives
