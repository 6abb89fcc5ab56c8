#include "analysis/models/nccl/named_cluster.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::analysis {

GpuCluster named_gpu_cluster(const std::string& topology, int nodes, int ranks_per_node) {
  if (const topology::ReferenceMachine* machine = topology::find_reference_machine(topology)) {
    return gpu_cluster(*machine, nodes, ranks_per_node);
  }
  if (!std::filesystem::exists(topology)) {
    std::vector<std::string_view> names;
    for (const topology::ReferenceMachine& machine : topology::reference_machines())
      names.push_back(machine.name);
    throw usage_error("--topology", fmt::format("'{}' is neither a file nor a reference machine", topology),
                      fmt::format("give a file, or one of {}", fmt::join(names, ", ")));
  }
  const topology::Topology read = topology::read_any_topology(read_file(topology), topology);
  if (read.hosts.empty())
    throw usage_error(topology, "there is no host in it", "save it again with topo save");
  return gpu_cluster(read.hosts.front(), nodes, ranks_per_node, topology);
}

}  // namespace collbench::analysis
