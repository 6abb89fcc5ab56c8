#pragma once
#include <functional>
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/operation.hpp"
#include "topology/machines/resolve.hpp"

namespace CLI {
class App;
}

namespace collbench::program {

/// The ranks that a prediction is of: --topology, --nodes and what joins them.
struct ClusterOptions {
  std::string topology;
  std::vector<int> nodes{1};
  int ranks_per_node = 0;            ///< 0: one for each GPU
  std::string transport;             ///< empty: what the NICs are made for
  analysis::Fabric fabric;           ///< Fabric{}: nothing is told
  std::string algorithm;             ///< empty: the fastest, or what NCCL chooses
  int nccl_version = 0;              ///< NCCL_VERSION_CODE; 0: not told
  std::vector<std::string> words{};  ///< as they were given: "--nodes=2", ...
};

/// Without --floors a command takes one count of nodes: see only_nodes.
void add_cluster_options(CLI::App& app, const std::string& theme, ClusterOptions& options);

/// Throws Error (usage) for several.
[[nodiscard]] int only_nodes(const ClusterOptions& options);

/// Throws Error (usage) for a topology that cannot carry the options, and where no one of the operations has
/// the algorithm on this machine.
[[nodiscard]] analysis::GpuCluster cluster_of(const ClusterOptions& options,
                                              const topology::ResolvedMachine& machine, int nodes,
                                              const std::vector<OperationId>& operations);

}  // namespace collbench::program
