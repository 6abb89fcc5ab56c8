#pragma once
#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// What a call costs its process before any GPU moves a byte, in µs: a process that drives several GPUs
/// launches on each. 0 for one process per GPU, and where the log does not tell.
[[nodiscard]] double launch_floor_microseconds(const Operation& operation, const GpuCluster& cluster);

/// NCCL's own latency of the operation with its LL protocol, the quickest algorithm (NCCL 2.30
/// src/graph/tuning.cc), with the transport's extra latency on every network hop.
[[nodiscard]] double latency_floor_microseconds(const Operation& operation, const GpuCluster& cluster);

/// What lies between the floor and S over the plateau's rate: protocols that change, a pipeline that fills.
[[nodiscard]] double ramp_microseconds(const Operation& operation, const GpuCluster& cluster, double bytes);

/// The whole: launch and GPU work overlap; `plateau` is the algorithm's rate in GB/s of S. With the run's own
/// smallest time (GpuRunFacts) that takes the place of the floor.
[[nodiscard]] double gpu_microseconds(const Operation& operation, const GpuCluster& cluster, double bytes,
                                      double plateau);

}  // namespace collbench::analysis
