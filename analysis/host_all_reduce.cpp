// AllReduce on host memory: S is the buffer of one rank.
#include <array>

#include "analysis/host_algorithm.hpp"
#include "analysis/round_clock.hpp"
#include "analysis/round_patterns.hpp"

namespace collbench {
namespace {

/// What a rank touches: its buffers, and `temporary_bytes` of the library's own.
RoundClock clock_for(const HostCall& call, double temporary_bytes) {
  RoundClock clock(call.model, SentData::forwarded,
                   (call.in_place ? 1 : 2) * call.size_bytes + temporary_bytes);
  if (!call.in_place) clock.work(clock.copy(call.size_bytes));  // the input becomes the first partial result
  return clock;
}

/// p − 1 steps that reduce a block and p − 1 that pass the results on.
double ring(const HostCall& call) {
  const double block = call.block();
  RoundClock clock = clock_for(call, block);
  const Round step = shift(call.model, 1);
  clock.repeat(step, block, clock.reduce(block), call.ranks() - 1);
  clock.repeat(step, block, 0, call.ranks() - 1);
  return clock.seconds();
}

/// Everything with the partner at distance 1, 2, 4, …
double recursive_doubling(const HostCall& call) {
  const double size = call.size_bytes;
  RoundClock clock = clock_for(call, size);
  const double reduce = clock.reduce(size);
  const Hypercube cube(call.model);
  if (cube.has_guests()) clock.exchange(cube.guests_to_hosts(), size, reduce);
  for (int mask = 1; mask < cube.participants(); mask *= 2) clock.exchange(cube.exchange(mask), size, reduce);
  if (cube.has_guests()) clock.exchange(cube.hosts_to_guests(), size);
  return clock.seconds();
}

/// Reduce-scatter by halves, then all-gather by doubling, both along the hypercube. R. Rabenseifner,
/// "Optimization of Collective Reduction Operations", ICCS 2004.
double rabenseifner(const HostCall& call) {
  RoundClock clock = clock_for(call, call.size_bytes);
  const Hypercube cube(call.model);
  const double half = call.size_bytes / 2;
  if (cube.has_guests()) {  // guest and host reduce one half each, and the host gets both
    clock.exchange(cube.guests_with_hosts(), half, clock.reduce(half));
    clock.exchange(cube.guests_to_hosts(), half);
  }
  for (int mask = 1; mask < cube.participants(); mask *= 2) {
    clock.exchange(cube.exchange(mask), half / mask, clock.reduce(half / mask));
  }
  for (int mask = cube.participants() / 2; mask > 0; mask /= 2) {
    clock.exchange(cube.exchange(mask), half / mask);
  }
  if (cube.has_guests()) clock.exchange(cube.hosts_to_guests(), call.size_bytes);
  return clock.seconds();
}

/// Reduce to rank 0, then broadcast; `to_root` and `from_root` say how.
double by_root(const HostCall& call, const std::vector<Round>& to_root, const std::vector<Round>& from_root) {
  const double size = call.size_bytes;
  RoundClock clock = clock_for(call, size);
  for (const Round& round : to_root) clock.exchange(round, size, clock.reduce(size));
  for (const Round& round : from_root) clock.exchange(round, size);
  return clock.seconds();
}

double basic_linear(const HostCall& call) {
  return by_root(call, linear_to_root(call.model), linear_from_root(call.model));
}

double nonoverlapping(const HostCall& call) {
  return by_root(call, binomial_to_root(call.model), binomial_from_root(call.model));
}

// Segments let a ring reduce while it receives; the model does not count on it.
constexpr std::array<HostAlgorithm, 6> kAlgorithms{{{"basic_linear", any_ranks, basic_linear},
                                                    {"nonoverlapping", any_ranks, nonoverlapping},
                                                    {"recursive_doubling", any_ranks, recursive_doubling},
                                                    {"ring", any_ranks, ring},
                                                    {"segmented_ring", any_ranks, ring},
                                                    {"rabenseifner", any_ranks, rabenseifner}}};

}  // namespace

std::span<const HostAlgorithm> host_all_reduce_algorithms() { return kAlgorithms; }

}  // namespace collbench
