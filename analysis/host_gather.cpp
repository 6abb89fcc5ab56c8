// Gather on host memory: S is what the root ends up with, one block from each rank. All of it but the root's
// own block goes through the root's link, whatever the algorithm.
#include <algorithm>
#include <array>

#include "analysis/back_to_back.hpp"
#include "analysis/host_algorithm.hpp"
#include "analysis/round_patterns.hpp"

namespace collbench {
namespace {

/// Every rank sends its block to the root; out of place the root copies its own.
double basic_linear(const HostCall& call) {
  RoundClock clock(call.model, SentData::standing, call.size_bytes + (call.in_place ? 0 : call.block()));
  const std::vector<Round> rounds = linear_to_root(call.model, call.root);
  const double copy = call.in_place ? 0 : clock.copy(call.block());
  return seconds_back_to_back(clock, [&] {
    for (const Round& round : rounds) clock.exchange(round, call.block());
    clock.work(copy);
  });
}

/// Along a binomial tree every rank collects the blocks of its subtree, and the root turns S round where its
/// tree does not begin at rank 0: one copy of S in a buffer of the library's own.
double binomial(const HostCall& call) {
  RoundClock clock(call.model, SentData::forwarded, 2 * call.size_bytes);
  const std::vector<Round> rounds = binomial_to_root(call.model, call.root);
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

constexpr std::array<HostAlgorithm, 2> kAlgorithms{
    {{"basic_linear", any_ranks, basic_linear}, {"binomial", any_ranks, binomial}}};

}  // namespace

std::span<const HostAlgorithm> host_gather_algorithms() { return kAlgorithms; }

}  // namespace collbench
