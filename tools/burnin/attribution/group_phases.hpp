#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The phases of a burn-in in which hosts work in groups: by themselves, along a rail, in small groups, all.

namespace collbench::analysis {

enum class BurninPhase {
  gpus,     ///< each GPU of a host alone: the probe (gpu_phase.hpp)
  nodes,    ///< each host by itself
  rails,    ///< all hosts over one rail, one rail at a time, then all rails at the same time
  pairs,    ///< pairs of hosts on each rail (pair_schedule.hpp)
  groups,   ///< disjoint groups of 4, 8 and 16 hosts, as they stand below the leaf switches
  whole,    ///< all hosts at once
  halving,  ///< whole domains, and halves of those that are slow (halving.hpp)
};

/// "nodes"; all of them, in their order.
[[nodiscard]] const std::vector<std::string>& phase_names();
[[nodiscard]] std::string name(BurninPhase phase);
/// "phase nodes": what a launcher's errors are kept by.
[[nodiscard]] std::string stage(BurninPhase phase);
[[nodiscard]] std::vector<BurninPhase> burnin_phases();

/// What is measured at once as one job.
struct GroupLaunch {
  BurninPhase phase = BurninPhase::whole;
  std::vector<int> nodes;
  std::optional<int> rail{};    ///< none: as the launcher chooses
  bool alone = false;           ///< nothing else ran
  bool without_nvlink = false;  ///< between hosts, where they have it

  bool operator==(const GroupLaunch&) const = default;
};

/// What a collective of a group made.
struct GroupRate {
  GroupLaunch launch;
  std::string operation;     ///< as typed: "all_reduce"; "all_reduce ring" where that was forced
  double bus_bandwidth = 0;  ///< bytes per second, of its fastest pass
  double slowest = 0;        ///< the same of its slowest pass
  bool host_memory = false;  ///< through MPI; false: the memory of GPUs
  /// What a sound machine of the kind that these hosts are makes at least (bytes per second; a verdict's
  /// BELOW), and which one that is; 0 and empty: not known.
  double floor = 0;
  std::string machine{};

  [[nodiscard]] bool is_below_floor() const { return bus_bandwidth < floor; }

  bool operator==(const GroupRate&) const = default;
};

/// A launch that gave nothing, and why.
struct GroupFailure {
  GroupLaunch launch;
  std::string why;

  bool operator==(const GroupFailure&) const = default;
};

/// Launches that run at the same time; no node (or, of rails, no node's rail) is in two of them.
using GroupBatch = std::vector<GroupLaunch>;

/// The batches of a phase over `nodes`, in order. Groups are cut below each leaf switch that holds one,
/// where `leaf_of_node` is known, and of the nodes of the others along the list; the nodes that remain form a
/// group with some before them (measured after the others: it shares nodes with them). None for pairs, for
/// rails where there is one, and for groups of all nodes or more.
[[nodiscard]] std::vector<GroupBatch> group_batches(BurninPhase phase, const std::vector<int>& nodes,
                                                    int rails, const std::vector<int>& leaf_of_node);

/// How many nodes a group has below each leaf switch, most first; empty where leaves are not known.
[[nodiscard]] std::vector<int> nodes_per_leaf(const std::vector<int>& nodes,
                                              const std::vector<int>& leaf_of_node);

/// Reads the record that a launch on `hosts` printed. No rates where its ranks were not on exactly these.
struct GroupOutcome {
  std::vector<GroupRate> rates;
  std::string why{};
  std::string misplaced{};  ///< as misplacement()
  double seconds = 0;       ///< that the launch took, its start and all
};
[[nodiscard]] GroupOutcome group_outcome(std::string_view record, const GroupLaunch& launch,
                                         const std::vector<std::string>& hosts);

}  // namespace collbench::analysis
