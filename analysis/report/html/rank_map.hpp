#pragma once
#include <string>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// Ranks that one map shows at most: those whose times differ most from the others'.
inline constexpr std::size_t kMaxMapRanks = 48;

/// Who was late, as markup: a table of ranks by sizes for each series of rows, each cell the rank's own time
/// inside the call over that of the median rank, colored; and what the probes of the ranks say. No table of
/// operations with a root, whose ranks have parts of different length: a short call says nothing there. Empty
/// without times of two ranks.
[[nodiscard]] std::string rank_map_body(const Run& run);

}  // namespace collbench::analysis
