// AllReduce on host memory: S is the buffer of one rank.
#include <algorithm>
#include <array>
#include <bit>

#include "analysis/models/host/algorithms.hpp"
#include "analysis/models/host/comm_schedules.hpp"
#include "analysis/models/host/loggp_simulator.hpp"

namespace collbench::analysis {
namespace {

/// What a rank touches: its buffers, and `temporary_bytes` of the library's own.
LogGpSimulator clock_for(const HostCall& call, double temporary_bytes) {
  LogGpSimulator clock(call.model, SentData::forwarded,
                       (call.in_place ? 1 : 2) * call.size_bytes + temporary_bytes);
  if (!call.in_place) clock.work(clock.copy(call.size_bytes));  // the input becomes the first partial result
  return clock;
}

/// p − 1 steps that reduce a block and p − 1 that pass the results on.
double ring(const HostCall& call) {
  const double block = call.block();
  LogGpSimulator clock = clock_for(call, block);
  const Round step = shift(call.model, 1);
  clock.repeat(step, block, clock.reduce(block), call.ranks() - 1);
  clock.repeat(step, block, 0, call.ranks() - 1);
  return clock.seconds();
}

/// Everything with the partner at distance 1, 2, 4, …
double recursive_doubling(const HostCall& call) {
  const double size = call.size_bytes;
  LogGpSimulator clock = clock_for(call, size);
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
  LogGpSimulator clock = clock_for(call, call.size_bytes);
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

/// Reduce to rank 0, then broadcast, both in such rounds.
double by_root(const HostCall& call, std::vector<Round> (*rounds)(const HostModel&, TreeWay, int)) {
  const double size = call.size_bytes;
  LogGpSimulator clock = clock_for(call, size);
  for (const Round& round : rounds(call.model, TreeWay::to_root, 0))
    clock.exchange(round, size, clock.reduce(size));
  for (const Round& round : rounds(call.model, TreeWay::from_root, 0)) clock.exchange(round, size);
  return clock.seconds();
}

double basic_linear(const HostCall& call) { return by_root(call, linear_rounds); }

double nonoverlapping(const HostCall& call) { return by_root(call, binomial_rounds); }

// Segments let a ring reduce while it receives; the model does not count on it.
constexpr std::array<HostAlgorithm, 6> kAlgorithms{{{"basic_linear", any_ranks, basic_linear},
                                                    {"nonoverlapping", any_ranks, nonoverlapping},
                                                    {"recursive_doubling", any_ranks, recursive_doubling},
                                                    {"ring", any_ranks, ring},
                                                    {"segmented_ring", any_ranks, ring},
                                                    {"rabenseifner", any_ranks, rabenseifner}}};

}  // namespace

std::span<const HostAlgorithm> host_all_reduce_algorithms() { return kAlgorithms; }

double host_tree_all_reduce(const HostCall& call) {
  const HostModel& model = call.model;
  const double size = call.size_bytes;
  const int nodes = model.nodes();
  const int chain = *std::ranges::max_element(model.ranks_on_node);
  const double working_set = (call.in_place ? 1 : 2) * size;

  const auto bandwidth_part = [&](const MessageTier& tier, double bytes) {
    return std::max(0.0, tier.forwarded.seconds(bytes, working_set) - tier.alpha_seconds);
  };
  const double out_of_a_rank = chain == 1 ? 0 : chain == 2 ? size : 2 * size;
  const double out_of_a_node = nodes == 1 ? 0 : nodes == 2 ? size : 2 * size;
  const double node_seconds = model.host_bytes_per_second > 0 ? out_of_a_node / model.host_bytes_per_second
                              : nodes > 1                     ? bandwidth_part(model.inter, out_of_a_node)
                                                              : 0;
  const double fullest = std::max(chain > 1 ? bandwidth_part(model.intra, out_of_a_rank) : 0, node_seconds);

  const int levels = static_cast<int>(std::bit_width(static_cast<unsigned>(nodes))) - 1;  // ⌊log2 N⌋
  const double latency = 2 * ((chain - 1) * model.intra.alpha_seconds + levels * model.inter.alpha_seconds);
  const double reduced = (chain > 1 ? size : 0) + (nodes == 1 ? 0 : nodes == 2 ? size / 2 : size);
  return latency + fullest + model.reduce.seconds(reduced, working_set) +
         (call.in_place ? 0 : model.copy.seconds(size, working_set));
}

}  // namespace collbench::analysis
