#pragma once
#include <cstddef>

namespace collbench::analysis {

/// launches_to_decide is at most this: so many or more.
inline constexpr int kMaxLaunchesToDecide = 200;

/// A row as its launches show it.
struct OpenRow {
  double log_ratio = 0;           ///< ln of new time over base time
  double standard_deviation = 0;  ///< of a launch's log time
  double sitting_allowance = 0;   ///< two sittings may differ by this fraction; 0: by nothing
  double same_within = 0;         ///< SAME: a change of this fraction is ruled out
  double significance = 0;        ///< SLOWER, FASTER: that any of `rows` is called so when none is
  std::size_t rows = 1;           ///< that are tested
};

/// Whether a row can be SAME at all: not where two sittings of the same thing may differ by as much as SAME
/// has to rule out.
[[nodiscard]] constexpr bool can_be_same(double sitting_allowance, double same_within) {
  return sitting_allowance < same_within;
}

/// About how many launches of each side decide a row, if their ratio and spread stay as they are: half the
/// interval of the log ratio, z·σ·√(2/n), has to be within what separates the ratio from being no change
/// (|ln ratio| − ln(1 + allowance), at the level of Holm's first step over all rows), or from a change that
/// matters (ln((1 + same_within) / (1 + allowance)) − |ln ratio|, at 95 %); the smaller number counts. Normal
/// quantiles, so a lower bound for a few launches. 0: neither is above 0, so that no number of launches does.
[[nodiscard]] int launches_to_decide(const OpenRow& row);

}  // namespace collbench::analysis
