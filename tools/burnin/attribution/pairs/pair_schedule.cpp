#include "tools/burnin/attribution/pairs/pair_schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/deterministic_random.hpp"
#include "base/pairing.hpp"
#include "tools/burnin/attribution/pairs/pair_effects.hpp"

namespace collbench::analysis {
namespace {

std::vector<PairRound> tournament(int nodes) {
  std::vector<PairRound> rounds;
  for (int round = 0; round < pairing_rounds(nodes); ++round) {
    PairRound pairs;
    for (int node = 0; node < nodes; ++node) {
      const auto partner = pairing_partner(node, round, nodes);
      if (partner && node < *partner) pairs.emplace_back(node, *partner);
    }
    rounds.push_back(std::move(pairs));
  }
  return rounds;
}

/// Fisher and Yates, by numbers that are the same everywhere.
void shuffle(std::vector<int>& values, std::uint64_t& counter) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[scrambled(counter++) % i]);
}

PairRound adjacent_pairs(const std::vector<int>& order) {
  PairRound pairs;
  for (std::size_t i = 0; i + 1 < order.size(); i += 2)
    pairs.emplace_back(std::minmax(order[i], order[i + 1]));
  return pairs;
}

std::vector<std::vector<int>> members_of_leaves(const std::vector<int>& leaf_of_node) {
  std::map<int, std::vector<int>> leaves;
  for (std::size_t node = 0; node < leaf_of_node.size(); ++node)
    leaves[leaf_of_node[node]].push_back(static_cast<int>(node));
  std::vector<std::vector<int>> members;
  for (auto& [leaf, nodes] : leaves) members.push_back(std::move(nodes));
  return members;
}

PairRound below_leaves(std::vector<std::vector<int>> leaves, std::uint64_t& counter) {
  PairRound pairs;
  for (std::vector<int>& leaf : leaves) {
    shuffle(leaf, counter);
    for (const auto& pair : adjacent_pairs(leaf)) pairs.push_back(pair);
  }
  return pairs;
}

/// Leaf by leaf, in any order, on a circle: whoever is half of it away is below another leaf, unless a leaf
/// has more than half of the nodes.
PairRound across_leaves(const std::vector<std::vector<int>>& leaves, const std::vector<int>& leaf_of_node,
                        std::uint64_t& counter) {
  std::vector<int> order(leaves.size());
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, counter);
  std::vector<int> circle;
  for (const int leaf : order) {
    std::vector<int> members = leaves[slot_of(leaf)];
    shuffle(members, counter);
    circle.insert(circle.end(), members.begin(), members.end());
  }
  PairRound pairs;
  const std::size_t half = circle.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    if (leaf_of_node[slot_of(circle[i])] != leaf_of_node[slot_of(circle[i + half])])
      pairs.emplace_back(std::minmax(circle[i], circle[i + half]));
  }
  return pairs;
}

}  // namespace

std::vector<PairRound> pair_rounds(int nodes, const std::vector<int>& leaf_of_node,
                                   const PairScheduleOptions& options) {
  if (nodes < 2) return {};
  if (nodes <= options.max_full) return tournament(nodes);
  std::vector<PairRound> rounds;
  std::uint64_t counter = scrambled(options.seed);
  const std::vector<std::vector<int>> leaves = members_of_leaves(leaf_of_node);
  for (int matching = 0; matching < options.matchings; ++matching) {
    if (leaves.size() < 2) {
      std::vector<int> order(slot_of(nodes));
      std::iota(order.begin(), order.end(), 0);
      shuffle(order, counter);
      rounds.push_back(adjacent_pairs(order));
      continue;
    }
    rounds.push_back(below_leaves(leaves, counter));
    rounds.push_back(across_leaves(leaves, leaf_of_node, counter));
  }
  return rounds;
}

std::vector<std::pair<int, int>> retest_pairs(const std::vector<int>& slow, const std::vector<int>& good,
                                              const std::vector<int>& leaf_of_node) {
  std::vector<std::pair<int, int>> pairs;
  if (good.empty()) return pairs;
  const auto add = [&pairs](int a, int b) {
    if (a != b) pairs.emplace_back(std::minmax(a, b));
  };
  if (slow.size() == 1) {
    constexpr std::size_t kPeers = 2;
    for (std::size_t peer = 0; peer < std::min(kPeers, good.size()); ++peer) add(slow[0], good[peer]);
    return pairs;
  }
  const int a = slow[0];
  const int b = slow[1];
  add(a, b);
  const auto is_other = [a, b](int node) { return node != a && node != b; };
  const auto is_below = [&leaf_of_node](int one, int other) {
    return leaf_of_node.empty() || leaf_of_node[slot_of(one)] == leaf_of_node[slot_of(other)];
  };
  auto third = std::ranges::find_if(good, [&](int node) {
    const bool below = is_below(a, b);
    return is_other(node) && is_below(a, node) == below && is_below(b, node) == below;
  });
  if (third == good.end()) third = std::ranges::find_if(good, is_other);
  if (third == good.end()) return pairs;
  add(a, *third);
  add(b, *third);
  return pairs;
}

PairCoverage coverage(const std::vector<PairRound>& rounds, int nodes) {
  PairCoverage covered{static_cast<int>(rounds.size()), 0, std::int64_t{nodes} * (nodes - 1) / 2, 0};
  std::vector<std::set<int>> partners(slot_of(std::max(0, nodes)));
  for (const PairRound& round : rounds) {
    for (const auto& [a, b] : round) {
      covered.pairs += partners[slot_of(a)].insert(b).second ? 1 : 0;
      partners[slot_of(b)].insert(a);
    }
  }
  const auto fewest =
      std::ranges::min_element(partners, [](const auto& x, const auto& y) { return x.size() < y.size(); });
  if (fewest != partners.end()) covered.fewest_partners = static_cast<int>(fewest->size());
  return covered;
}

std::vector<PairRound> fitting(std::vector<PairRound> rounds, double seconds, double seconds_per_round) {
  const double count = std::max(0.0, seconds / seconds_per_round);
  if (count < static_cast<double>(rounds.size())) rounds.resize(static_cast<std::size_t>(count));
  return rounds;
}

}  // namespace collbench::analysis
