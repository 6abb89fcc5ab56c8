#pragma once
#include <string>
#include <vector>

#include "analysis/verdict/finding_cost.hpp"

// What a fault takes from AllReduce, in words: topo diff, the doctor and pages say it alike.

namespace collbench::analysis {

/// What NCCL would run, where that loses most, and what it would be if the fault came during a job:
/// "AllReduce on 2 nodes: nvls_tree 474.0 → 404.9 GB/s (−15 %) if present when NCCL starts, 237.0 GB/s (−50
/// %) if it happens during a job"; what a ring loses where that is much more, or alone. Empty where nothing
/// changes by what is shown.
[[nodiscard]] std::string cost_sentence(const std::vector<FindingCost>& costs);

/// Ring, tree and best in every case: "AllReduce on 1 node: ring 363.0 → 20.0 GB/s (−94 %) and best …; on 2
/// nodes: …". Empty where no model shows a loss.
[[nodiscard]] std::string all_costs(const std::vector<FindingCost>& costs);

}  // namespace collbench::analysis
