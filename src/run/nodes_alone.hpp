#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "base/record/run.hpp"
#include "collectives/engine/measurement_loop.hpp"
#include "launch/collective_wait.hpp"
#include "launch/ranks.hpp"
#include "launch/session.hpp"
#include "src/run/context.hpp"
#include "src/run/make_backend.hpp"

namespace collbench::program {

/// The row that each node measures alone: of the plan's AllReduce rows that are judged the largest up to 1
/// GiB, for which the buffers are large enough. None without such a row, or without two nodes that have the
/// same number of ranks, and several of them.
[[nodiscard]] std::optional<RowKey> row_of_nodes_alone(const std::vector<RowKey>& plan,
                                                       const Identities& identities);

/// The ranks of this rank's node, who measure among themselves while those of the other nodes do the same:
/// who is slow there is slow by itself, and what is slow only between nodes is the network's.
class NodeRanks {
 public:
  /// Collective over `all`, which are those of `session`, as is what follows. Both outlive this.
  NodeRanks(const launch::CollectiveWait& all, const RunContext& context, const launch::Session& session);

  /// Of every node, on rank 0. Throws the same AgreedError on all ranks of all nodes.
  [[nodiscard]] std::vector<NodeAlone> measure(const RunBackend& backend, const RowKey& row,
                                               const collectives::MeasurementLoopOptions& options,
                                               const collectives::MeasurementObserver& observer) const;

 private:
  const launch::CollectiveWait& all_;
  std::unique_ptr<launch::Ranks> ranks_;
  launch::CollectiveWait waiter_;
};

}  // namespace collbench::program
