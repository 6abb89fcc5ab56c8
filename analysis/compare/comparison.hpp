#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// What became of a row.
enum class RowChange {
  same,     ///< no difference is shown, and one of `same_within` is ruled out
  faster,   ///< significantly
  slower,   ///< significantly
  unclear,  ///< what was measured cannot tell
  missing,  ///< only the base has it
  added,    ///< only the new run has it
};

inline constexpr std::array<std::string_view, 6> kRowChangeNames{"SAME",    "FASTER",  "SLOWER",
                                                                 "UNCLEAR", "MISSING", "NEW"};

[[nodiscard]] constexpr std::string_view name(RowChange change) {
  return kRowChangeNames.at(static_cast<std::size_t>(change));
}

/// A row's times on one side.
struct ComparedTimes {
  double seconds = 0;  ///< geometric mean over launches
  int launches = 0;
};

/// One row of both sides.
struct ComparedRow {
  RowKey key;
  RowChange change = RowChange::unclear;
  ComparedTimes base;
  ComparedTimes current;
  double ratio = 0;            ///< new time over base time: above 1 is slower; 0 where a side lacks the row
  double ratio_low = 0;        ///< of the 95 % interval of the ratio; 0 where there is none
  double ratio_high = 0;       ///< likewise
  std::optional<double> p{};   ///< two-sided, of no difference, adjusted by Holm over all rows; none of a
                               ///< single launch each, which has no test
  int launches_to_decide = 0;  ///< for UNCLEAR: launches of each side that would; 0: not known, or none would
  /// Neither a change nor SAME could be said of this ratio, since two sittings of the same thing are taken to
  /// differ by as much: more launches say nothing.
  bool is_within_sittings = false;
  /// The machine was never in one known state on both sides, so that the times say nothing of the change.
  bool is_other_state = false;
  std::vector<std::string> notes{};  ///< what went another way in the two: the algorithm, throttled GPUs
};

struct CompareOptions {
  /// Of two launches of the same thing, how far apart their times may be where nothing was repeated: 0.1 is
  /// 10 %. No default here: what is usual differs between machines by more than a factor of ten.
  double launch_allowance = 0;
  /// By how much the times of two sittings of the same thing may differ, as a fraction, where each side is
  /// one record of several launches: what changes between sittings no launch of either shows. In one state of
  /// the machine, and where the records do not say in which it was.
  double sitting_allowance = 0;
  double unknown_state_allowance = 0;
  double same_within = 0.05;   ///< a change of less is none
  double significance = 0.05;  ///< the chance that any row of all is called changed when none is
};

/// Of launches of A and B in turn (pairs.hpp); then `base` is A, `current` is B, and `launches` are pairs.
struct PairedRounds {
  int rounds = 0;
  int looks = 0;  ///< at which the comparison may have ended, the last one included
};

/// Two measurements of the same rows.
struct Comparison {
  std::string base_name;
  std::string current_name;
  int ranks = 0;
  std::vector<ComparedRow> rows;         ///< those of the base in its order, then those that are new
  std::vector<std::string> differences;  ///< what else differs: machines, versions, settings
  bool on_host_memory = false;           ///< through MPI, not on GPUs
  bool has_repeats = false;              ///< some side has a row of two launches or more
  bool knows_states = false;             ///< both sides probed the machine: like is compared with like
  double sitting_allowance = 0;          ///< that of the options which applies; 0: none does
  bool is_of_one_record = false;         ///< both sides are the same record
  std::optional<PairedRounds> paired{};
  CompareOptions options;

  [[nodiscard]] std::size_t count(RowChange change) const;
};

/// Of a row that both sides have, where the times are of different things.
void leave_unclear(ComparedRow& row);

/// `base` is one run or more of the same rows, `current` likewise. One run of `repeat` each counts as its
/// launches; where a side has several runs, each run is one value, the median of its launches.
/// Rows are matched by their key; those that were not run are left out.
///
/// Where a side has two launches or more, the launches' log times are compared by Student's t with one
/// variance for both sides (Montgomery & Runger, Applied Statistics and Probability, §10-2); p is adjusted by
/// Holm (1979). Where neither has, a row is changed when the ratio of the ends of its intervals that are
/// nearest to each other is beyond `launch_allowance`, and otherwise UNCLEAR.
///
/// Where each side is one record, p is of a ratio within the allowance for two sittings (for an allowance of
/// 0 the usual two-sided p), and SAME has to hold for every ratio of them; a row whose bounds are not finite
/// is UNCLEAR.
///
/// Where both sides probed the machine and it had several states (analysis/states), launches of one state are
/// compared: of the state in which the side with fewer has most. A row without such a state is UNCLEAR.
///
/// Throws Error (usage) when the sides ran on different numbers of ranks, one was simulated and the other
/// not, either on simulated GPUs, ranks' times became one by different rules, or no row is in both.
[[nodiscard]] Comparison compare(const std::vector<Run>& base, const std::vector<Run>& current,
                                 const CompareOptions& options);

/// Whether some row was measured on both sides.
[[nodiscard]] bool have_a_row_in_common(const std::vector<Run>& a, const std::vector<Run>& b);

/// A record that was compared with itself: says so before all else, in place of what differs; rows that have
/// times on both sides are SAME, without a test.
void compare_with_itself(Comparison& comparison);

/// Adjusts the p of all rows by Holm, and decides what became of each row that has one.
void decide_rows(Comparison& comparison);

}  // namespace collbench::analysis
