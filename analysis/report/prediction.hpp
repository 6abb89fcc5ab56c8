#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "analysis/models/nccl/nccl_cost.hpp"
#include "base/record/measurement.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

struct PredictedRow {
  OperationId operation = OperationId::all_reduce;
  std::uint64_t size_bytes = 0;
  Expectation expected;
  std::optional<NcclChoice> nccl{};        ///< a third opinion: NCCL's own; none where it has none
  std::optional<NcclTableChoice> table{};  ///< what NCCL's own code chose on such a machine, as far as known
};

/// The expected table of a cluster on which nothing has been measured.
struct Prediction {
  std::string topology;  ///< name or file
  GpuCluster cluster;
  std::vector<PredictedRow> rows;
};

[[nodiscard]] Prediction predict(std::string topology, const GpuCluster& cluster,
                                 std::span<const OperationId> operations,
                                 std::span<const std::uint64_t> sizes_bytes);

/// Where none are given: 8 B to 8 GiB by × 4.
[[nodiscard]] std::vector<std::uint64_t> predicted_sizes();

/// Bus bandwidths in GB/s; none where there is no such time.
struct PredictedBusbw {
  std::optional<double> ring;
  std::optional<double> tree;
  std::optional<double> expected;
  std::optional<double> band_low;
  std::optional<double> band_high;
  std::optional<double> nccl;
};

[[nodiscard]] PredictedBusbw predicted_busbw(const PredictedRow& row, const GpuCluster& cluster);

/// What NCCL's own model takes for the row; none where it has no opinion.
[[nodiscard]] std::optional<double> nccl_seconds(const PredictedRow& row);

/// "ring LL128"; empty where NCCL has no opinion.
[[nodiscard]] std::string nccl_choice_name(const PredictedRow& row);

/// "hgx-h100: 2 nodes × 8 H100 (16 ranks); within a node NVLink …", and what the columns mean, a line each.
[[nodiscard]] std::string prediction_title(const Prediction& prediction);
[[nodiscard]] std::vector<std::string> prediction_legend(const Prediction& prediction);

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
