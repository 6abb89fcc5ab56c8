#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/report/text_layout.hpp"
#include "base/record/measurement.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// What a machine must reach to be kept: what judge() would call BELOW is under `floor`.
struct AcceptanceFloor {
  OperationId operation = OperationId::all_reduce;
  std::uint64_t size_bytes = 0;
  int nodes = 1;
  int ranks = 0;
  double expected = 0;          ///< bus bandwidth of a sound machine, GB/s
  std::optional<double> floor;  ///< GB/s, rounded down to 0.1; none where sound machines scatter too widely
  std::optional<double> sound;  ///< GB/s: SOUND from here on
  HealthyRange range;           ///< where both are from
};

/// The floors of a machine at several node counts.
struct AcceptanceFloors {
  std::string topology;  ///< name or file
  std::string gpu;
  std::vector<AcceptanceFloor> rows;
};

/// Appends those of one cluster. `sizes_bytes` are at least kLargeSize: no verdict goes by less.
void add_floors(AcceptanceFloors& floors, const GpuCluster& cluster, std::span<const OperationId> operations,
                std::span<const std::uint64_t> sizes_bytes);

/// Where none are given: 64 MiB, 1 GiB, 8 GiB and, where that is more, the size of the provider's own limit.
[[nodiscard]] std::vector<std::uint64_t> floor_sizes(std::string_view machine);

/// As a table ("text" or "md") that ends with what --min-busbw takes at each node count and the line of a
/// node health check, or as "csv" or "json". Throws Error (usage) for another format.
[[nodiscard]] std::string report(const AcceptanceFloors& floors, std::string_view format, int columns);

}  // namespace collbench::analysis
