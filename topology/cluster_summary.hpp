#pragma once
#include <string>
#include <vector>

#include "base/record/cluster.hpp"
#include "topology/cluster.hpp"

namespace collbench {

/// Three lines for the head of a report: how many nodes there are and what most of them are, which reference
/// machine is nearest, and which nodes are odd and in what (not said of a single node). As short for a
/// thousand nodes as for two.
[[nodiscard]] std::vector<std::string> cluster_summary(const ClusterTopology& cluster);

/// In words, what one shape has otherwise than the usual one, what matters most first:
/// "no NIC 0000:9b:00.0", "GPU 0000:18:00.0 has nvlinks_active 17 instead of 18".
[[nodiscard]] std::vector<std::string> shape_differences(const FactsByDevice& odd,
                                                         const FactsByDevice& usual);

}  // namespace collbench
