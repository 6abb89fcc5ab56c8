#pragma once
#include <cstddef>
#include <vector>

#include "tools/burnin/attribution/pairs/pair_design.hpp"
#include "tools/burnin/attribution/pairs/pair_effects.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"
#include "tools/burnin/attribution/pairs/rail_parts.hpp"

// Where a node is slow with others, and may be well and below another leaf switch than they.

namespace collbench::analysis {

/// The levels of the parts of each side of a design of two: its pairs say nothing of pairs inside a side, so
/// that where the parts have several levels, a node may be below another leaf switch, or slow.
class SideLevels {
 public:
  /// None for another design, and where the leaves are known.
  SideLevels(const PairTable& table, DesignKind design, const std::vector<RailParts>& rails);

  /// Slow, and no slower than a level of its side.
  [[nodiscard]] bool has_slower_level(const std::vector<RailParts>& rails, int node) const;
  /// A tenth less than the fastest level of its side may be what it has lost.
  [[nodiscard]] bool may_be_of_faster_level(const std::vector<RailParts>& rails, int node) const;
  /// Its side's pairs scatter so much that not even who is at the fastest level is known to have all.
  [[nodiscard]] bool scatter_hides_a_tenth(int node) const;

 private:
  struct Side {
    Levels levels{};
    double clear_below = 0;  ///< above the fastest of them
  };
  [[nodiscard]] const Side& side_of(std::size_t rail, int node) const;

  std::vector<int> side_of_node_{};
  std::vector<Side> sides_{};  ///< by rail, then side
};

/// Another is as slow, and their pair is fast, or was not measured, as where all met few references only:
/// they may be below a leaf switch of their own, unless a node is slow inside its group.
[[nodiscard]] bool may_share_leaf(const PairTable& table, const PairEffects& effects,
                                  const std::vector<RailParts>& rails, DesignKind design, int node);

/// Slow with other groups, and with its own by less than half as much, or with one if it was found in none:
/// no part of the node's.
[[nodiscard]] bool is_slow_elsewhere_only(const PairTable& table, const PairEffects& effects,
                                          const RailParts& rail_parts, int node, int rail,
                                          bool groups_were_found);

}  // namespace collbench::analysis
