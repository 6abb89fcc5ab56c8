#pragma once
#include <cstdint>

#include "analysis/models/nccl/bands.hpp"
#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/measurement.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// Measured over expected busbw of sound machines, at large sizes.
struct HealthyEdges {
  double below = 0;  ///< no sound machine was seen under it
  double sound = 0;  ///< from here on SOUND; at least 0.80, and more than 0.8 × the quickest sound run makes
  double high = 0;   ///< above it, the machine or the rank count is not what was said
  int machines = 0;  ///< of this class that it is from

  bool operator==(const HealthyEdges&) const = default;
};

/// As band_class(), but all operations over a network that is not known are one class.
[[nodiscard]] BandClass healthy_class(OperationId id, const GpuCluster& cluster);

/// By the size of a row, 64 MiB or more; from 64 ranks on as if there were so many, for what each rank sends
/// matters. SendRecv across domains has edges of its own. Calibrated over published runs (research/power.py,
/// docs/notes/power.md).
[[nodiscard]] const HealthyEdges& healthy_edges(OperationId id, BandClass kind, double bytes, int ranks);

/// What a row of `size_bytes` is judged by: the provider's acceptance limit where the cluster is a named
/// machine that has one for it (topology/catalog/acceptance_limits.hpp), else the class. `expected_busbw` in
/// GB/s.
[[nodiscard]] HealthyRange healthy_range(OperationId id, std::uint64_t size_bytes, double expected_busbw,
                                         const GpuCluster& cluster);

}  // namespace collbench::analysis
