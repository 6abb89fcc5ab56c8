#pragma once
#include <string>
#include <vector>

#include "base/record/cluster.hpp"

namespace collbench {

/// One line for the head of a report: the GPU, the nearest NIC and the NUMA node of the first ranks, those
/// with a note before the others. Empty when no rank's GPU is known and there is no note.
[[nodiscard]] std::string placement_words(const std::vector<PlacedRank>& placement);

}  // namespace collbench
