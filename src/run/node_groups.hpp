#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/record/run.hpp"
#include "collectives/engine/measurement_loop.hpp"
#include "collectives/engine/plan.hpp"
#include "launch/collective_wait.hpp"
#include "launch/ranks.hpp"
#include "launch/session.hpp"
#include "src/run/context.hpp"
#include "src/run/make_backend.hpp"

namespace collbench::program {

/// What some nodes measure among themselves before the rows, all groups at once: a collective over all ranks
/// cannot say which of them is slow.
struct GroupStep {
  RowKey row;
  std::string where;                     ///< "on each node alone"
  std::vector<std::vector<int>> groups;  ///< nodes of each; a node in none waits
  double seconds = 0;                    ///< that it may take
};

/// Of the plan's rows that are judged, each the largest up to 1 GiB: an AllReduce on each node alone, where
/// nodes have several ranks; then, of three nodes and more, an operation that tests every NIC (AllGather,
/// ReduceScatter, else AllReduce) on each pair of neighbors of a ring of all nodes, where a tenth of
/// `run_seconds` is enough for all rounds of these. Who is slow alone is slow by itself; whose pairs are slow
/// has the slow network. None where nodes have different numbers of ranks.
[[nodiscard]] std::vector<GroupStep> group_steps(const std::vector<RowKey>& plan,
                                                 const Identities& identities,
                                                 const collectives::PlanRequest& request, double run_seconds);

class GroupRanks {
 public:
  /// Collective over `all`, which are those of `session`, as is what follows. Both outlive this.
  GroupRanks(const launch::CollectiveWait& all, const RunContext& context, const launch::Session& session,
             const GroupStep& step);

  /// Whether this rank's node is in no group of the step.
  [[nodiscard]] bool waits() const { return nodes_.empty(); }

  /// Of every group, on rank 0. Throws the same AgreedError on all ranks of all nodes.
  [[nodiscard]] std::vector<NodeGroup> measure(const RunBackend& backend, const RowKey& row,
                                               const collectives::MeasurementLoopOptions& options,
                                               const collectives::MeasurementObserver& observer) const;

 private:
  const launch::CollectiveWait& all_;
  std::vector<std::string> nodes_;  ///< hosts of the group's nodes; empty: this rank's waits
  std::vector<std::string> hosts_;  ///< of its ranks
  std::unique_ptr<launch::Ranks> ranks_;
  launch::CollectiveWait waiter_;
};

}  // namespace collbench::program
