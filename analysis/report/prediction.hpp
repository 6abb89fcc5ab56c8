#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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

/// The table for people, the same in text and Markdown: a heading per column, and a row's cells; the last two
/// columns are text.
[[nodiscard]] std::vector<std::string> prediction_headings();
[[nodiscard]] std::vector<std::string> prediction_cells(const PredictedRow& row, const GpuCluster& cluster);

/// "Expected busbw in GB/s at 1 GiB (band): AllReduce 454.4 (290.3 to 486.2), …": the first
/// line of a prediction.
[[nodiscard]] std::string prediction_answer(const Prediction& prediction);

/// "hgx-h100: 2 nodes × 8 H100 (16 ranks); within a node NVLink …", and what the columns mean, a line each.
[[nodiscard]] std::string prediction_title(const Prediction& prediction);
[[nodiscard]] std::vector<std::string> prediction_legend(const Prediction& prediction);

}  // namespace collbench::analysis
