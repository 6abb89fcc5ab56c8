#pragma once
#include <set>
#include <string>
#include <vector>

#include "tools/burnin/attribution/pairs/pair_effects.hpp"

namespace collbench::analysis {

/// By node: whom it was measured with.
[[nodiscard]] std::vector<std::set<int>> partners_of(const PairTable& table);

/// Which pairs a screening measured.
enum class DesignKind {
  all_pairs,  ///< nine of ten or more of them
  some_pairs,
  bipartite,  ///< each node of one side with nodes of the other
  star,       ///< each node with one reference
  chain,      ///< each node with the one before and the one after it
  ring,
};

struct PairDesign {
  DesignKind kind = DesignKind::some_pairs;
  int reference = -1;  ///< of a star: the node that is in all pairs
  int fewest = 0;      ///< partners of any node that was measured
  int most = 0;
  int usual = 0;  ///< the median

  /// Most nodes met too few others for a part of their own (kMinPartners): they are told apart by
  /// elimination, pair_elimination.hpp.
  [[nodiscard]] bool is_sparse() const { return usual < kMinPartners; }
};
[[nodiscard]] PairDesign pair_design(const PairTable& table);

/// By node 0 or 1, so that all pairs are between both sides; empty where there are no two such.
[[nodiscard]] std::vector<int> sides_of(const PairTable& table);

/// What this design can tell, and what not: "one reference: 62 pairs with n0. …".
[[nodiscard]] std::string design_words(const PairTable& table, bool has_expected);

}  // namespace collbench::analysis
