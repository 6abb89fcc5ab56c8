#pragma once
#include <vector>

#include "tools/burnin/attribution/pairs/pair_effects.hpp"

namespace collbench::analysis {

/// Nodes whose pairs with one another take less time than those with others: a leaf, a rack, a pod.
struct NodeGroups {
  std::vector<int> group_of_node;         ///< nodes of no group have numbers of their own; empty: none found
  std::vector<std::vector<int>> members;  ///< of at least three
  double across = 0;                      ///< log of time between groups over that inside
};

/// Finds groups from the pairs themselves: the two-level model log time(i, j) = inside or across + part(i) +
/// part(j) is compared with one level by BIC (Schwarz, Annals of Statistics 6, 1978; Laplace's likelihood, as
/// medians fit it), where each node's group (or each pair's kind, where that is less) and each part, as far
/// as it matters, count as what has to be said, and of two slow nodes the slower or both set the time. For
/// given levels the likeliest groups are found by moving nodes and joining groups while that gains (Blondel
/// et al., J. Stat. Mech. P10008, 2008, with this gain for modularity's). None of fewer than two groups of
/// three, and of more than 4,096 nodes.
[[nodiscard]] NodeGroups node_groups(const PairTable& table);

}  // namespace collbench::analysis
