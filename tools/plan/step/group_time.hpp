#pragma once
#include <string>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/operation.hpp"
#include "tools/plan/step/measured_collectives.hpp"
#include "tools/plan/step/placement.hpp"

namespace collbench::analysis {

/// A group of ranks of one kind of parallelism, where it lies on the machine, as a cluster of its own: its
/// ranks per node and its share of the node's NICs, for the groups beside it use the others at the same time.
struct RankGroup {
  int size = 1;
  GpuCluster cluster;
  LeafCrossings crossings{};  ///< of all groups like it; without a fabric nothing is known of them
  double fabric_share = 1;    ///< of the NICs' rate, that the leaf switches leave
  const MeasuredCollectives* measured =
      nullptr;  ///< what a record says of such groups; none: the model alone

  [[nodiscard]] bool crosses_nodes() const { return size > 1 && cluster.domains() > 1; }
  /// Measured over expected seconds; none where no record speaks for the group and the size.
  [[nodiscard]] std::optional<double> measured_ratio(OperationId operation, double bytes) const {
    const bool speaks = measured != nullptr && measured->across_nodes == crosses_nodes();
    return speaks ? measured->ratio(operation, bytes) : std::nullopt;
  }
};

/// `machine` is one node, with the fabric between the nodes. Of stages: two that follow each other, which
/// share the leaf switches with all others.
[[nodiscard]] RankGroup rank_group(const GpuCluster& machine, const TrainingJob& job, GroupKind kind);

/// Seconds of one call by the model that `collbench predict` prints (expect_on_gpus). `bytes` is S of the
/// size column: what a rank ends with for AllGather, what it starts with otherwise. 0 for a group of one.
/// Where a record speaks for the group, times its ratio.
[[nodiscard]] double group_seconds(const RankGroup& group, OperationId operation, double bytes);

/// "NVLink", "NICs", or "nothing" for a group of one.
[[nodiscard]] std::string crossed_links(const RankGroup& group);

}  // namespace collbench::analysis
