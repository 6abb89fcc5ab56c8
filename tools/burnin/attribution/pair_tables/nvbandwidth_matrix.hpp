#pragma once
#include <string>
#include <vector>

#include "base/text_input.hpp"

namespace collbench::analysis {

/// Whether these lines are what nvbandwidth printed (its text, versions 0.1 to 0.8).
[[nodiscard]] bool is_nvbandwidth(const std::vector<Line>& lines);

/// Its matrix of GB/s between GPUs as lines that burnin_from_matrix reads, from row to column: GPUs are
/// called gpu0, gpu1, …, and a matrix of reads (`GPU(row) <- GPU(column)`) is turned. Of several the one that
/// `test` names, as the test or as "test: title". Throws Error (usage) of `file`, or of --column, for none
/// and for several.
[[nodiscard]] std::vector<Line> nvbandwidth_matrix(const std::vector<Line>& lines, const std::string& test,
                                                   const std::string& file);

}  // namespace collbench::analysis
