#pragma once
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology {

/// A reference machine and how the host differs from it, in words; none: alike in all that was compared.
struct ReferenceMatch {
  const ReferenceMachine* machine = nullptr;
  int distance = 0;
  std::vector<std::string> differences;
  std::vector<std::string>
      not_compared;  ///< "NVLinks": what the host's sources, or the machine's, do not say
};

/// The reference machines by nearness to the host, nearest first: by GPU model, number of GPUs, NVLinks, NICs
/// and their rate. Empty for a host without GPUs.
[[nodiscard]] std::vector<ReferenceMatch> nearest_references(const Host& host);

}  // namespace collbench::topology
