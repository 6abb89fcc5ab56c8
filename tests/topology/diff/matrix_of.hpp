#pragma once
#include <fmt/format.h>

#include <set>
#include <string>

#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The machine as `nvidia-smi topo -m` prints it: paths, NVLinks by pairs, the NUMA node of each GPU. NICs
/// are called mlx5_0 and so on, in the order of the host's list; those in `left_out`, by that order, are not
/// there.
inline std::string matrix_of(const Host& host, const std::set<std::string>& left_out = {}) {
  std::vector<Device> devices;
  std::string header;
  const auto label = [](const Device& device) {
    return fmt::format("{}{}", device.kind == DeviceKind::gpu ? "GPU" : "mlx5_", device.index);
  };
  for (const Device& device : gpus_and_nics(host)) {
    if (left_out.contains(label(device))) continue;
    devices.push_back(device);
  }
  int gpus = 0;  // nvidia-smi counts those that are there
  std::vector<std::string> names;
  for (const Device& device : devices) {
    names.push_back(device.kind == DeviceKind::gpu ? fmt::format("GPU{}", gpus++) : label(device));
    header += "\t" + names.back();
  }
  std::string text = header + "\tCPU Affinity\tNUMA Affinity\n";
  for (std::size_t row = 0; row < devices.size(); ++row) {
    text += names[row];
    for (const Device& column : devices) {
      const auto path = path_between(host, devices[row], column);
      std::string cell = " X ";
      if (path && path->type == PathType::nvl) {
        cell = fmt::format("NV{}", path->nvlinks);
      } else if (path && !(column == devices[row])) {
        cell = std::string(nvidia_smi_word(path->type).value_or("SYS"));
      }
      text += "\t" + cell;
    }
    const int node = numa_node_of(host, devices[row]).value_or(0);
    text += devices[row].kind == DeviceKind::gpu
                ? fmt::format("\t{}-{}\t{}\n", 56 * node, 56 * node + 55, node)
                : "\t\n";
  }
  return text;
}

}  // namespace collbench::topology
