#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/nccl_choice.hpp"
#include "base/record/expectation.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

struct PredictedRow {
  OperationId operation = OperationId::all_reduce;
  std::uint64_t size_bytes = 0;
  Expectation expected;
  std::optional<NcclChoice> nccl{};  ///< a third opinion: NCCL's own; none where it has none
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

/// As "text", "md", "csv" or "json". Throws Error (usage) for any other format.
[[nodiscard]] std::string render_prediction(const Prediction& prediction, std::string_view format);

}  // namespace collbench::analysis
