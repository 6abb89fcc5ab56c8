#pragma once
#include <functional>
#include <set>
#include <string>

#include "tools/burnin/attribution/pairs/pair_effects.hpp"

namespace collbench::analysis {

/// Why the median is a poor reference, and who may be slow then.
struct MedianDoubt {
  std::string why{};          ///< empty: nothing speaks against it
  std::set<int> slower_half;  ///< nodes in none of the pairs that are faster than the median
};

/// Where pairs are faster than the median by as much as makes others slow, and many nodes are in none of
/// them, the median may be what is slow. `explains` says of a node and a rail whether a fault of its own, or
/// a disturbance that times alone have shown, is why its pairs differ: those say nothing of the median.
[[nodiscard]] MedianDoubt median_doubt(const PairTable& table, const PairEffects& effects,
                                       const std::function<bool(int node, int rail)>& explains);

}  // namespace collbench::analysis
