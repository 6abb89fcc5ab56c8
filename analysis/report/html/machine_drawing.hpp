#pragma once
#include <string>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "topology/render/render.hpp"

namespace collbench::analysis {

/// What a drawing of the worse machine points at: each finding with the loss of the best algorithm.
[[nodiscard]] std::vector<topology::DrawingMark> drawing_marks(const std::vector<PricedFinding>& findings);

/// The machine as a picture of Graphviz (topology/render/), as markup; without Graphviz, or where it fails, a
/// sentence that says so.
[[nodiscard]] std::string machine_drawing(const topology::Host& host, const std::string& name,
                                          const std::vector<topology::DrawingMark>& marks);

}  // namespace collbench::analysis
