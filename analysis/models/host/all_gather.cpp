// AllGather on host memory: S is what every rank ends up with, p blocks.
#include <algorithm>
#include <array>

#include "analysis/models/host/algorithms.hpp"
#include "analysis/models/host/comm_schedules.hpp"
#include "analysis/models/host/loggp_simulator.hpp"

namespace collbench::analysis {
namespace {

LogGpSimulator clock_for(const HostCall& call) {
  LogGpSimulator clock(call.model, SentData::forwarded, call.size_bytes + (call.in_place ? 0 : call.block()));
  if (!call.in_place) clock.work(clock.copy(call.block()));  // one's own block, to its place
  return clock;
}

double ring(const HostCall& call) {
  LogGpSimulator clock = clock_for(call);
  const Round step = shift(call.model, 1);
  clock.repeat(step, call.block(), 0, call.ranks() - 1);
  return clock.seconds();
}

/// With one neighbor and then the other in turn: one block at first, then always the two that came last.
/// J. Chen et al., "Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast
/// Ethernet", HPC Asia 2005.
double neighbor(const HostCall& call) {
  LogGpSimulator clock = clock_for(call);
  const int ranks = call.ranks();
  std::vector<int> even_goes_right(static_cast<std::size_t>(ranks));
  std::vector<int> even_goes_left(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const int right = (rank + 1) % ranks;
    const int left = (rank + ranks - 1) % ranks;
    even_goes_right[static_cast<std::size_t>(rank)] = rank % 2 == 0 ? right : left;
    even_goes_left[static_cast<std::size_t>(rank)] = rank % 2 == 0 ? left : right;
  }
  const std::array<Round, 2> rounds{round_of(call.model, even_goes_right),
                                    round_of(call.model, even_goes_left)};
  clock.exchange(rounds[0], call.block());
  for (int i = 1; i < ranks / 2; ++i) {
    clock.exchange(rounds[static_cast<std::size_t>(i % 2)], 2 * call.block());
  }
  return clock.seconds();
}

double recursive_doubling(const HostCall& call) {
  LogGpSimulator clock = clock_for(call);
  const Hypercube cube(call.model);
  for (int mask = 1; mask < call.ranks(); mask *= 2) clock.exchange(cube.exchange(mask), mask * call.block());
  return clock.seconds();
}

/// J. Bruck et al., "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing
/// Systems", IEEE TPDS 8(11), 1997. The blocks arrive rotated and are moved to their places at the end.
double bruck(const HostCall& call) {
  LogGpSimulator clock = clock_for(call);
  for (int distance = 1; distance < call.ranks(); distance *= 2) {
    const int blocks = std::min(distance, call.ranks() - distance);
    clock.exchange(shift(call.model, call.ranks() - distance), blocks * call.block());
  }
  clock.work(clock.copy(call.size_bytes));
  return clock.seconds();
}

/// Everybody's block to rank 0 in turn, and a binomial broadcast of all of them.
double linear(const HostCall& call) {
  LogGpSimulator clock = clock_for(call);
  for (const Round& round : linear_rounds(call.model, TreeWay::to_root)) clock.exchange(round, call.block());
  for (const Round& round : binomial_rounds(call.model, TreeWay::from_root))
    clock.exchange(round, call.size_bytes);
  return clock.seconds();
}

constexpr std::array<HostAlgorithm, 6> kAlgorithms{
    {{"linear", any_ranks, linear},
     {"bruck", any_ranks, bruck},
     {"recursive_doubling", power_of_two_ranks, recursive_doubling},
     {"ring", any_ranks, ring},
     {"neighbor", even_ranks, neighbor},
     {"two_proc", two_ranks, ring}}};

}  // namespace

std::span<const HostAlgorithm> host_all_gather_algorithms() { return kAlgorithms; }

}  // namespace collbench::analysis
