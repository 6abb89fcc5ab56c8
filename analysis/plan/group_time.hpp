#pragma once
#include <string>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/plan/measured_collectives.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// A group of ranks of one kind of parallelism, where it lies on the machine, as a cluster of its own: its
/// ranks per node and its share of the node's NICs, for the groups beside it use the others at the same time.
struct RankGroup {
  int size = 1;
  GpuCluster cluster;
  const MeasuredCollectives* measured =
      nullptr;  ///< what a record says of such groups; none: the model alone

  [[nodiscard]] bool crosses_nodes() const { return size > 1 && cluster.domains() > 1; }
};

/// `machine` is one node. Ranks of the group stand `stride` GPUs apart (the product of the inner dimensions).
[[nodiscard]] RankGroup rank_group(const GpuCluster& machine, int size, int stride);

/// Seconds of one call by the model that `collbench predict` prints (expect_on_gpus). `bytes` is S of the
/// size column: what a rank ends with for AllGather, what it starts with otherwise. 0 for a group of one.
/// Where a record speaks for the group, times its ratio.
[[nodiscard]] double group_seconds(const RankGroup& group, OperationId operation, double bytes);

/// "NVLink", "NICs", or "nothing" for a group of one.
[[nodiscard]] std::string crossed_links(const RankGroup& group);

}  // namespace collbench::analysis
