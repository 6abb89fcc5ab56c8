#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/record/nccl_plan.hpp"

namespace collbench::analysis {

using TextTable = std::vector<std::vector<std::string>>;

/// Rows of cells as lines; the first `left` columns are names, the others numbers.
[[nodiscard]] std::string table_lines(const TextTable& table, std::size_t left);

/// GB/s of a channel, as NCCL has it: whole numbers, or a few decimals.
[[nodiscard]] std::string channel_rate(double bytes_per_second);

/// "8 × 48/48 GB/s NVL/PIX", with the pattern of a tree; "none".
[[nodiscard]] std::string graph_words(const std::optional<NcclSearchGraph>& graph);

}  // namespace collbench::analysis
