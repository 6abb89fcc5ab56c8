#pragma once
#include <optional>
#include <vector>

#include "analysis/report/lab01/page.hpp"
#include "base/record/run.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// What bounds AllReduce's busbw for a run: on host memory the calibrated links, reduction and copies; on
/// GPUs the NVLinks and NICs of `host` (one node of the run's machine), or without it those that the log's
/// own lines tell; then the ring and the tree made from them (docs/lab01.md). Empty where nothing is known.
[[nodiscard]] std::vector<Ceiling> lab01_ceilings(const Run& run, const std::optional<topology::Host>& host);

}  // namespace collbench::analysis
