#pragma once
#include <cstddef>
#include <set>
#include <vector>

#include "tools/burnin/attribution/pairs/pair_effects.hpp"

namespace collbench::analysis {

/// One direction of one rail: who is slow in it.
struct DirectionParts {
  std::vector<double> values{};  ///< log of time above the median, by node; NaN: not known
  double line = 0;               ///< beyond it a part is slow
  /// Whose quickest pair stays below 95 % of the expected rate and of the others' quickest ones, by more than
  /// these scatter, most of which make what is expected: by node.
  std::set<int> short_of_expected{};
  std::vector<double> quickest{};  ///< seconds of the quickest pair, by node; 0: none

  /// Beyond the line of the scatter, or short of what is expected.
  [[nodiscard]] bool slow(int node) const {
    return values[slot_of(node)] > line || short_of_expected.contains(node);  // false for NaN
  }
};

/// The parts of all nodes on one rail.
struct RailParts {
  DirectionParts send{};
  DirectionParts receive{};

  [[nodiscard]] bool slow(int node) const { return send.slow(node) || receive.slow(node); }
  /// NaN where neither is known.
  [[nodiscard]] double worst(int node) const;
  /// Slow by what is expected alone: the scatter of the rail hides it.
  [[nodiscard]] bool only_short(int node) const;
};

/// By rail. `expected_seconds`: of each time, at a rate that is known; 0: none is.
[[nodiscard]] std::vector<RailParts> rail_parts(const PairTable& table, const PairEffects& effects,
                                                double expected_seconds);

/// A rail whose common time is beyond that of the other rails, of three or more: of two nobody knows which is
/// the odd one.
struct SlowRail {
  int rail = 0;
  double more = 0;  ///< log of time, over the median of the rails
  double line = 0;
};
[[nodiscard]] std::vector<SlowRail> slow_rails(const PairEffects& effects, int rails);

/// A node whose pairs take more than usual with most of those who are not such nodes themselves.
struct SlowWithMost {
  int node = 0;
  int rail = 0;
  std::vector<double> excesses{};  ///< of the pairs beyond the line: log of time
  std::size_t measured = 0;        ///< pairs with those others, each by its worst
};

/// By node, then rail. `line`: beyond it a pair is slow.
[[nodiscard]] std::vector<SlowWithMost> slow_with_most(const PairTable& table, const PairEffects& effects,
                                                       double line);

}  // namespace collbench::analysis
