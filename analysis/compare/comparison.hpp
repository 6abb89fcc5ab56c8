#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/run.hpp"

namespace collbench::analysis {

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

  /// The interval says nothing: a few launches that scatter widely are compatible with any change.
  [[nodiscard]] bool is_too_wide() const { return ratio_low > 0 && ratio_high > 1000 * ratio_low; }
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

/// launches_to_decide is at most this: so many or more.
inline constexpr int kMaxLaunchesToDecide = 200;

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

/// What differs between two runs beside their times, a line each: machines with the price of each difference,
/// hosts, versions, environment, settings, what others took of the cores. Empty where nothing is known to
/// differ.
[[nodiscard]] std::vector<std::string> run_differences(const Run& base, const Run& current);

/// Where some of these runs on GPUs timed their calls on the same addresses and others walked through memory
/// (docs/gpu.md, "Cold and hot"): below so many bytes the ones may have found their data in the L2. 0: all
/// did the same, or nobody says.
[[nodiscard]] std::uint64_t cold_below(const std::vector<Run>& base, const std::vector<Run>& current);

/// That one run rounded each rank's part to 16 bytes and the other to whole elements, where that makes some
/// of their rows other calls; empty where it makes none, or nobody says.
[[nodiscard]] std::string counts_difference(const Run& base, const Run& current);

/// What of the records themselves bears on every row: runs that were cut short, and how launches count.
[[nodiscard]] std::vector<std::string> record_lines(const std::vector<Run>& base,
                                                    const std::vector<Run>& current);

/// After how many rounds a comparison of at most `rounds` may end: 6, then a third more each time, and
/// `rounds`. Fixed beforehand, so that what ending early costs is known. Precondition: at least 1.
[[nodiscard]] std::vector<int> looks_of(int rounds);

/// Launches of two commands in turn: `a[i]` and `b[i]` are one round. Rows are matched as `compare`
/// does, and also where they differ in the algorithm alone that each side asked for. Of
/// each row and round the logarithm of B's time over A's is one value, of the passes in the state of the
/// machine that both were in; a round without such a state is left out of the row. These values are compared
/// with 0 by Student's t, at significance over the number of looks (Bonferroni: `looks_of(max_rounds)`), p
/// adjusted by Holm over rows: that any row is called changed at any look when none is has at most the chance
/// of `options.significance`. The interval is that of all looks together. Throws as `compare`.
[[nodiscard]] Comparison compare_pairs(std::vector<Run> a, std::vector<Run> b, int max_rounds,
                                       const CompareOptions& options);

/// Whether each row that both have is SLOWER, FASTER or SAME.
[[nodiscard]] bool is_decided(const Comparison& comparison);

/// "AllReduce 8 B float sum: B is 3.1 % faster (2.4 to 3.9 %), 20 pairs": a sentence for each row that is
/// decided, in its order.
[[nodiscard]] std::vector<std::string> pair_sentences(const Comparison& comparison);

}  // namespace collbench::analysis
