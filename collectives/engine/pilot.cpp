#include "collectives/engine/pilot.hpp"

#include <algorithm>
#include <array>

namespace collbench::collectives {
namespace {

/// Of `iterations` iterations on the slowest rank; the same on every rank.
double seconds_of(launch::Ranks& ranks, PreparedRow& prepared, std::uint64_t iterations) {
  ranks.barrier();
  std::array<double, 1> seconds{prepared.time(iterations, iterations, {}).elapsed_seconds};
  ranks.reduce(seconds, launch::RankAggregate::maximum);
  return seconds[0];
}

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

}  // namespace collbench::collectives
