#include "src/run/gpu_expectation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace collbench::program {

std::optional<analysis::GpuCluster> gpu_cluster_here(const topology::ClusterTopology& machines,
                                                     const Identities& identities,
                                                     std::vector<std::string>& notes) {
  const std::vector<int> ranks = ranks_per_node(identities);
  const auto nothing = [&](const std::string& why) {
    notes.push_back(fmt::format("no expectation and no verdict: {}", why));
    return std::nullopt;
  };
  if (machines.distinct_hosts.empty()) return nothing("no topology was gathered");
  if (std::any_of(ranks.begin(), ranks.end(), [&](int each) { return each != ranks.front(); })) {
    return nothing("the nodes have different numbers of ranks");
  }
  try {
    return analysis::gpu_cluster(machines.distinct_hosts.front(), static_cast<int>(ranks.size()),
                                 ranks.front(), "this machine");
  } catch (const Error& error) {
    return nothing(error.what());
  }
}

}  // namespace collbench::program
