#pragma once
#include <utility>
#include <vector>

#include "tools/burnin/attribution/blame.hpp"
#include "tools/burnin/attribution/pairs/pair_schedule.hpp"

// What comes and goes: a part that is slow in some launches and not in others, although nothing ran beside
// any of them.

namespace collbench::analysis {

/// A node's part on a rail that comes and goes, by the directions that were measured alone.
struct UnsteadyPart {
  int node = 0;
  int rail = 0;
  bool sends = false;  ///< slow as a sender at times
  bool receives = false;
  int slow = 0;          ///< directions of its pairs that were slow
  int measured = 0;      ///< of so many
  int partners = 0;      ///< with so many others
  int without = 0;       ///< directions between others that were measured, none of them slow
  double log_time = 0;   ///< of the slow ones, the median
  double line = 0;       ///< what is slow
  bool certain = false;  ///< beyond chance also when counted by launches, over all nodes and rails
};

/// Who explains by itself all that is slow alone on a rail: it was slow with two partners at least, and in a
/// direction in which it was not slow at another time, and nobody was slow without it, which chance would do
/// in less than one of twenty burn-ins in which the same number of slow directions falls anywhere. A slow one
/// takes more than the quick ones (the lower quartile) of its rail and class by the larger of the rail's line
/// and 5 %. Directions that were slow each of four times or more stay slow, and are no part of it.
[[nodiscard]] std::vector<UnsteadyPart> unsteady_parts(const PairTable& table, const PairEffects& effects);

/// Without the slow ones of the directions of such parts, so that they widen nobody else's scatter: what is
/// beyond the quickest time of its direction by more than the part's line.
[[nodiscard]] PairTable without_slow_moments(const PairTable& table, const std::vector<UnsteadyPart>& parts);

/// What to measure once more after the retests, alone, three times over with others between, so that what
/// comes and goes is told from what stays, and one end of a path from the other: each slow path that is not a
/// node's, and whom times alone have cleared. `good` are partners that nothing speaks against. Nothing where
/// more than max(4, nodes / 8) of these are: then it is others' traffic that costs; and nothing of a pair or
/// node that has been measured so often.
[[nodiscard]] std::vector<PairOnRail> steadiness_pairs(const PairTable& table, const Attribution& found,
                                                       const std::vector<int>& good);

}  // namespace collbench::analysis
