#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/counters/counter_rises.hpp"
#include "base/record/probe.hpp"
#include "tools/burnin/attribution/blame.hpp"
#include "tools/burnin/attribution/group_phases.hpp"
#include "tools/burnin/attribution/pairs/pair_schedule.hpp"

namespace collbench::analysis {

/// A pair that gave no time: a host that died, or a launch that was refused.
struct PairFailure {
  int a = 0;
  int b = 0;
  int rail = 0;
  std::string why;
  bool alone = false;  ///< after the rounds, with nothing beside it

  bool operator==(const PairFailure&) const = default;
};

/// Of an expected rate: who makes less is below, as operators accept a link at 95 % of its nominal rate.
inline constexpr double kShareOfExpected = 0.95;

/// The times of another column of a table of pairs, such as peaks beside averages.
struct OtherColumn {
  std::string name;
  std::vector<RailTime> times;
};

/// Launches of a phase, those that run at once counted one by one, and what they take.
struct HalvingCost {
  std::size_t rounds = 0;  ///< one after the other
  std::size_t launches = 0;
  double seconds = 0;

  bool operator==(const HalvingCost&) const = default;
};

/// A phase that was left out.
struct LeftOutPhase {
  std::string words;                   ///< with the reason: "groups (--phases)", "gpus in part (--time)"
  std::optional<BurninPhase> phase{};  ///< of which nothing was measured
  bool is_cut_by_time = false;

  bool operator==(const LeftOutPhase&) const = default;
};
[[nodiscard]] LeftOutPhase left_out(BurninPhase phase, std::string_view why);
inline constexpr std::string_view kCutByTime = " in part (--time)";
[[nodiscard]] LeftOutPhase cut_by_time(BurninPhase phase);

/// All that a burn-in measured.
struct BurninRecord {
  PairTable table;
  std::vector<PairFailure> failures;
  std::vector<GroupRate> groups;  ///< of the phases beside pairs
  std::vector<GroupFailure> group_failures;
  std::vector<ProbeRecord> probes;  ///< of the phase gpus, each of a node, in their order
  std::map<std::string, std::vector<std::string>> gpu_models;  ///< by node, of those whose driver lists them
  std::vector<CounterRise> rises;                         ///< error counters that went up while a phase ran
  std::map<std::string, std::string> without_counters{};  ///< hosts that gave none once or more, and why
  std::vector<std::string> counter_notes;  ///< what of the others' could not be read, and where
  /// How it was measured: options and variables that change what is, by name.
  std::map<std::string, std::string> settings;
  double bytes = 0;                 ///< that each time of the table moved, one way
  double expected = 0;              ///< bytes per second of a message one way on a rail; 0: not known
  int nvlink_nodes = 0;             ///< hosts of an NVLink domain, in their order; 0: none is known
  double start_seconds = 0;         ///< of a launch, beside measuring: by the first of phase halving
  HalvingCost halving{};            ///< what phase halving took
  HalvingCost halving_predicted{};  ///< after its first launch, by what was slow in it
  HalvingCost halving_least{};      ///< the same if that is not slow again; none: nothing was slow
  int planned = 0;                  ///< pairs × rails of the plan
  int left_out = 0;                 ///< of these, those that --time left out
  int retests_left_out = 0;         ///< of whoever failed or is suspected, for want of time
  std::vector<LeftOutPhase> phases_left_out{};
  /// By stage(), where its launcher started ranks instead, which ended it.
  std::map<std::string, std::string> launcher_errors{};
  std::vector<OtherColumn> other_columns{};  ///< of such a table: whoever is named must be slow in each
  std::string source{};  ///< of pairs that others measured: the file, and how it was read; empty: our own
  std::size_t earlier_times =
      0;  ///< of the table's, these first ones are of the run that --resume went on with
};

/// The verdicts with what failed: a node none of whose pairs gave a time is not tested, one that answers on
/// other rails and not on this is bad, one that answered at first and nobody at the end is not tested, both
/// ends of a single failure are suspect, and so is whoever falls short of `expected`. Where the times scatter
/// by more than kMaxBlind nobody is good: who else would be is suspect, for what passes unseen. Of what
/// others measured, which cannot be measured again, they are not tested, as is whoever may have lost
/// kMustBeSeen by what its pairs took or its own or its group's rate, or is slow in one column and not in
/// another.
[[nodiscard]] Attribution attribute(const BurninRecord& record);

/// Of what others measured, which cannot be measured again: who may have lost kMustBeSeen is not tested, by
/// what its pairs took where the parts of nodes scatter by so much, and by its own rate or its group's.
void hold_back_unseen(const BurninRecord& record, Attribution& found);

/// Why what `earlier` measured cannot be gone on with by `now`: the settings that differ, with both values.
/// Empty: it can.
[[nodiscard]] std::string measured_otherwise(const std::map<std::string, std::string>& earlier,
                                             const std::map<std::string, std::string>& now);

/// Whom to measure again alone, and on which rail: whoever is suspected of a part of its own and each slow
/// pair, against nodes that nothing speaks against, and pairs of these to compare them with.
[[nodiscard]] std::vector<PairOnRail> retests_of(const BurninRecord& record);

/// After the retests: what tells parts that come and go from those that stay (steadiness.hpp).
[[nodiscard]] std::vector<PairOnRail> repeats_of(const BurninRecord& record);

/// Whether anything was measured that --expected is a rate of: pairs, or others' rates.
[[nodiscard]] bool is_held_against_expected(const BurninRecord& record);

/// Others measured a rate of each node by itself, and no groups.
[[nodiscard]] bool has_rate_of_each_node(const BurninRecord& record);

/// Whether nobody asked for a phase, or it could not be launched at all.
[[nodiscard]] bool was_left_out(const BurninRecord& record, BurninPhase phase);

/// Whether a launch of a phase gave anything: if not, its failures are its launcher's, and no host's.
[[nodiscard]] bool works_somewhere(const BurninRecord& record, BurninPhase phase);

/// The nodes that were asked, and of which no launch gave anything, beside others that answered.
[[nodiscard]] std::vector<int> nodes_not_reached(const BurninRecord& record);

/// All nodes are good, and something else is not: a slow path or rail, a job below its floor, or a pair or
/// job that gave nothing.
[[nodiscard]] bool has_finding_of_no_node(const BurninRecord& record, const Attribution& found);

/// All nodes are good, nothing else was found, and all that was asked has answered: exit status 0.
[[nodiscard]] bool passes(const BurninRecord& record, const Attribution& found);

/// "6 nodes: 3 good, 2 suspect, 0 bad, 1 not tested; 1 not reached; error counters of 1 not read": the first
/// line of every format. Jobs below their floor come before all.
[[nodiscard]] std::string summary(const BurninRecord& record, const Attribution& found);

[[nodiscard]] std::vector<std::string> names_of(const BurninRecord& record, const std::vector<int>& nodes);

/// "n0, n5" of few, "n0 to n30 (16 hosts)" of many, which need not follow each other.
[[nodiscard]] std::string hosts_of(const BurninRecord& record, const std::vector<int>& nodes);

/// The node of this name, or else of one that is the same up to the first dot and without case.
[[nodiscard]] std::optional<int> node_named(const BurninRecord& record, const std::string& host);

/// The nodes that are in `bucket`.
[[nodiscard]] std::vector<int> nodes_in(const Attribution& found, Bucket bucket);
[[nodiscard]] std::vector<std::string> names_of(const BurninRecord& record, const Attribution& found,
                                                Bucket bucket);

/// Times, failures, findings and buckets; burnin_from_json reads what was measured back, to go on.
[[nodiscard]] std::string burnin_json(const BurninRecord& record);

/// Throws Error (usage) that names the place in `file`.
[[nodiscard]] BurninRecord burnin_from_json(std::string_view text, const std::string& file);

/// A line of scontrol for each bad one, with its reason; for none a comment.
[[nodiscard]] std::string drain_lines(const BurninRecord& record);

/// The good ones, a line each (a hostfile), or joined by commas (Slurm's --nodelist).
[[nodiscard]] std::string good_nodes(const BurninRecord& record, std::string_view separator);

}  // namespace collbench::analysis
