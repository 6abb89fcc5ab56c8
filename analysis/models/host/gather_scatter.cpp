// Gather on host memory: S is what the root ends up with, one block from each rank. All of it but the root's
// own block goes through the root's link, whatever the algorithm.
// Scatter on host memory: S is what the root begins with, one block for each rank. All of it but the root's
// own block goes through the root's link, whatever the algorithm.
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/models/host/algorithms.hpp"
#include "analysis/models/host/comm_schedules.hpp"
#include "analysis/models/host/loggp_simulator.hpp"

namespace collbench::analysis {
namespace {

/// A block between the root and each other rank, one after the other; out of place the root copies its own.
double linear(const HostCall& call, TreeWay way) {
  LogGpSimulator clock(call.model, SentData::standing, call.size_bytes + (call.in_place ? 0 : call.block()));
  const std::vector<Round> rounds = linear_rounds(call.model, way, call.root);
  const double copy = call.in_place ? 0 : clock.copy(call.block());
  return seconds_back_to_back(clock, [&] {
    for (const Round& round : rounds) clock.exchange(round, call.block());
    clock.work(copy);
  });
}

double gather_linear(const HostCall& call) { return linear(call, TreeWay::to_root); }

double scatter_linear(const HostCall& call) { return linear(call, TreeWay::from_root); }

/// Along a binomial tree every rank collects the blocks of its subtree, and the root turns S round where its
/// tree does not begin at rank 0: one copy of S in a buffer of the library's own.
double gather_binomial(const HostCall& call) {
  LogGpSimulator clock(call.model, SentData::forwarded, 2 * call.size_bytes);
  const std::vector<Round> rounds = binomial_rounds(call.model, TreeWay::to_root, call.root);
  const double copy = clock.copy(call.root == 0 ? call.block() : call.size_bytes);
  return seconds_back_to_back(clock, [&] {
    double blocks = 1;
    for (const Round& round : rounds) {
      clock.exchange(round, std::min(blocks, call.ranks() - blocks) * call.block());
      blocks *= 2;
    }
    clock.work(copy);
  });
}

constexpr std::array<HostAlgorithm, 2> kGather{
    {{"basic_linear", any_ranks, gather_linear}, {"binomial", any_ranks, gather_binomial}}};

/// Along a binomial tree every rank passes on the blocks of its subtree, the largest first, and the root
/// turns S round where its tree does not begin at rank 0: one copy of S in a buffer of the library's own.
double scatter_binomial(const HostCall& call) {
  LogGpSimulator clock(call.model, SentData::forwarded, 2 * call.size_bytes);
  const std::vector<Round> rounds = binomial_rounds(call.model, TreeWay::from_root, call.root);
  const double copy = clock.copy(call.root == 0 ? call.block() : call.size_bytes);
  return seconds_back_to_back(clock, [&] {
    clock.work(copy);
    double blocks = std::exp2(static_cast<double>(rounds.size()) - 1);
    for (const Round& round : rounds) {
      clock.exchange(round, std::min(blocks, call.ranks() - blocks) * call.block());
      blocks /= 2;
    }
  });
}

constexpr std::array<HostAlgorithm, 2> kScatter{
    {{"basic_linear", any_ranks, scatter_linear}, {"binomial", any_ranks, scatter_binomial}}};

}  // namespace

std::span<const HostAlgorithm> host_gather_algorithms() { return kGather; }

std::span<const HostAlgorithm> host_scatter_algorithms() { return kScatter; }

}  // namespace collbench::analysis
