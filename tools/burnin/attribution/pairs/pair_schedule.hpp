#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace collbench::analysis {

/// Pairs of nodes that are measured at the same time; no node is in two of them.
using PairRound = std::vector<std::pair<int, int>>;

/// A pair, and the rail on which to measure it.
using PairOnRail = std::pair<std::pair<int, int>, int>;

struct PairScheduleOptions {
  int max_full = 256;  ///< up to so many nodes each meets each other one
  int matchings = 3;   ///< beyond, random ones of each class of paths
  std::uint64_t seed = 1;
};

/// The rounds of `nodes` nodes. Up to max_full the tournament of n − 1 rounds (n where n is odd), in which
/// every pair meets once; beyond, `matchings` random matchings below the leaf switches and as many across
/// them (any pair where `leaf_of_node` is empty): a good node then meets only bad ones with probability
/// (d/n)^matchings. The same for the same seed. Time O(rounds × nodes).
[[nodiscard]] std::vector<PairRound> pair_rounds(int nodes, const std::vector<int>& leaf_of_node,
                                                 const PairScheduleOptions& options = {});

/// `slow` is one node or two. A slow node against two good ones; a slow pair again, and both of its nodes
/// against one good node (A–B, A–C, B–C), whose paths are of the same class where there is such a node. Empty
/// where no node is good.
[[nodiscard]] std::vector<std::pair<int, int>> retest_pairs(const std::vector<int>& slow,
                                                            const std::vector<int>& good,
                                                            const std::vector<int>& leaf_of_node = {});

/// What a plan covers.
struct PairCoverage {
  int rounds = 0;
  std::int64_t pairs = 0;
  std::int64_t all_pairs = 0;
  int fewest_partners = 0;  ///< of any node
};
[[nodiscard]] PairCoverage coverage(const std::vector<PairRound>& rounds, int nodes);

/// The first rounds that fit into `seconds` at `seconds_per_round` each.
[[nodiscard]] std::vector<PairRound> fitting(std::vector<PairRound> rounds, double seconds,
                                             double seconds_per_round);

/// `all` in their order, in batches of `at_once` at most.
template <typename Job>
[[nodiscard]] std::vector<std::vector<Job>> in_batches(const std::vector<Job>& all, int at_once) {
  std::vector<std::vector<Job>> batches;
  for (const Job& each : all) {
    if (batches.empty() || std::cmp_greater_equal(batches.back().size(), at_once)) batches.emplace_back();
    batches.back().push_back(each);
  }
  return batches;
}

}  // namespace collbench::analysis
