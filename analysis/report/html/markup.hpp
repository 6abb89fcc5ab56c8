#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "base/document/document.hpp"
#include "base/record/run.hpp"
#include "topology/render/render.hpp"

// What pages of HTML have beside the blocks of a document, as markup.

namespace collbench::analysis {

/// Ranks that one map shows at most: those whose times differ most from the others'.
inline constexpr std::size_t kMaxMapRanks = 48;

/// Who was late, as markup: a table of ranks by sizes for each series of rows, each cell the rank's own time
/// inside the call over that of the median rank, colored; and what the probes of the ranks say. No table of
/// operations with a root, whose ranks have parts of different length: a short call says nothing there. Empty
/// without times of two ranks.
[[nodiscard]] std::vector<ReportBlock> rank_map(const Run& run);

/// What a drawing of the worse machine points at: each finding with the loss of the best algorithm.
[[nodiscard]] std::vector<topology::DrawingMark> drawing_marks(const std::vector<PricedFinding>& findings);

/// The machine as a picture of Graphviz (topology/render/), as markup; without Graphviz, or where it fails, a
/// sentence that says so.
[[nodiscard]] ReportBlock machine_drawing(const topology::Host& host, const std::string& name,
                                          const std::vector<topology::DrawingMark>& marks);

}  // namespace collbench::analysis
