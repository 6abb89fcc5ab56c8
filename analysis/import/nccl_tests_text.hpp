#pragma once
#include <span>
#include <vector>

#include "analysis/import/log_lines.hpp"
#include "analysis/import/log_table.hpp"

namespace collbench::analysis {

/// Every table that nccl-tests wrote into a log, in order, with what the log says around each: also one whose
/// program died before its first row. Never throws for its content.
[[nodiscard]] std::vector<LogTable> read_nccl_tests_text(std::span<const LogLine> lines);

}  // namespace collbench::analysis
