#pragma once
#include <string>
#include <vector>

#include "base/text_input.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"

namespace collbench::analysis {

/// Whether these lines are a matrix: a heading of at least three names, each of which heads a row below it;
/// or "rail 0, …" first, as burnin_matrix begins.
[[nodiscard]] bool is_pair_matrix(const std::vector<Line>& lines);

/// Its rates in GB/s, from row to column, as a record. Throws Error (usage) with the line of `file`.
[[nodiscard]] BurninRecord burnin_from_matrix(const std::vector<Line>& lines, const std::string& file);

}  // namespace collbench::analysis
