#pragma once
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"

// What groups say beside pairs: a host that is slow by itself, a rail, a group whose nodes are fine in pairs.

namespace collbench::analysis {

/// Groups that can be compared with each other: of one phase, size and operation, that spread over leaf
/// switches alike and have the same GPUs (what crosses a switch, and over how many uplinks, differs between 3
/// + 1 and 2 + 2 nodes), all in company or all alone.
struct GroupPopulation {
  BurninPhase phase = BurninPhase::nodes;
  std::size_t size = 1;
  std::vector<int> per_leaf;  ///< nodes below each leaf switch, most first; empty: leaves are not known
  std::string gpus;           ///< of the hosts (gpu_phase.hpp); empty: none, or not known
  std::string operation;
  bool alone = false;
  std::vector<const GroupRate*> members;  ///< of the record
  double median = 0;                      ///< bytes per second
  double line = 0;  ///< log of the rate below the median; NaN with fewer than kMinPopulation
};

/// Of three nobody knows which is the odd one.
inline constexpr std::size_t kMinPopulation = 4;

/// How far a rate may be below the median of `count` like it (log): population_line, wider where few know the
/// scatter: 6 robust standard deviations × (1 + 3/(count − 1)). Of healthy normally distributed populations
/// of 4, 5, 6, 8 and 16 at most 2 % have a member beyond it (20,000 drawn of each; it is to be seen again,
/// alone, before it blames anybody).
[[nodiscard]] double group_line(const std::vector<double>& log_rates);

/// In the order in which they were first measured.
[[nodiscard]] std::vector<GroupPopulation> group_populations(const BurninRecord& record);

/// Adds findings, and makes nodes suspect or bad: a host that is slow by itself is bad where it was so again,
/// alone, by more than 5 % (on host memory 30 %, by which two sittings of one host may differ); a rail that
/// is slower than most of four or more; a slow group none of whose nodes and smaller groups is named is a
/// path between its nodes, and no node's fault.
void judge_groups(const BurninRecord& record, Attribution& found);

/// How many jobs are below what a sound machine makes at least, in any operation: hosts by themselves, and
/// what had the network for itself, for which a floor is. One that was not when it was measured again is
/// none.
struct JobsBelowFloor {
  std::size_t judged = 0;  ///< whose floor is known
  std::size_t below = 0;
  const GroupRate* worst = nullptr;  ///< of the record: the least share of its floor; none without one
};
[[nodiscard]] JobsBelowFloor jobs_below_floor(const BurninRecord& record);

/// "all_reduce of n0 to n3 makes 21.4 GB/s, below the 38.9 GB/s of a sound hgx-h100"
[[nodiscard]] std::string floor_words(const BurninRecord& record, const GroupRate& rate);

/// Slow hosts by themselves and slow groups, each again with nothing beside it, and two like them that are
/// not, to compare with; and the slowest of groups that are mostly below their floor, which is of a group
/// alone.
[[nodiscard]] std::vector<GroupLaunch> group_retests(const BurninRecord& record);

/// A table for `phase`, and which groups had too few like them to be compared; empty where nothing of it was
/// measured.
[[nodiscard]] ReportSection group_section(const BurninRecord& record, BurninPhase phase);

}  // namespace collbench::analysis
