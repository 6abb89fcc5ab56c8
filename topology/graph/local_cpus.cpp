#include "topology/graph/local_cpus.hpp"

#include <optional>

#include "topology/graph/cpu_list.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {

std::vector<int> local_cpus(const Host& host, const Device& device) {
  const auto index = static_cast<std::size_t>(device.index);
  if (device.kind == DeviceKind::gpu && host.gpus.at(index).cpu_affinity.known())
    return parse_cpu_list(*host.gpus.at(index).cpu_affinity.value).value_or(std::vector<int>());
  const std::optional<int> wanted = numa_node_of(host, device);
  for (const NumaNode& node : host.numa_nodes)
    if (wanted == node.index) return parse_cpu_list(node.cpus.value_or("")).value_or(std::vector<int>());
  return {};
}

}  // namespace collbench::topology
