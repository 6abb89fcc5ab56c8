#include "topology/show_affinity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "topology/lookup.hpp"
#include "topology/path.hpp"

namespace collbench {
namespace {

/// "nearest NIC: mlx5_0, mlx5_1 (PXB)": all NICs at the least distance.
std::string nearest_text(const Host& host, const Device& gpu) {
  std::string names;
  std::optional<PathType> nearest;
  for (const Device& nic : nics_by_nearness(host, gpu)) {
    const auto path = path_between(host, gpu, nic);
    if (!path || (nearest && path->type != *nearest)) break;
    nearest = path->type;
    names += (names.empty() ? "" : ", ") + device_label(host, nic);
  }
  return nearest ? fmt::format("nearest NIC {} ({})", names, path_type_name(*nearest)) : "";
}

std::string nvlink_text(const Host& host, const Device& gpu) {
  std::map<int, std::vector<std::string>, std::greater<>> peers;  // by the number of links
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    const Device peer{DeviceKind::gpu, i};
    const int links = nvlinks_between(host, gpu, peer);
    if (links > 0) peers[links].push_back(device_label(host, peer));
  }
  std::string text;
  for (const auto& [links, labels] : peers) {
    const bool all = labels.size() > 1 && labels.size() + 1 == host.gpus.size();
    text += fmt::format("{}{} NVLink{} to {}", text.empty() ? "" : "; ", links, links == 1 ? "" : "s",
                        all ? "every other GPU" : fmt::format("{}", fmt::join(labels, ", ")));
  }
  return text;
}

}  // namespace

std::string show_affinity(const Host& host) {
  std::string out;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    const Device gpu{DeviceKind::gpu, i};
    const auto numa = numa_node_of(host, gpu);
    std::string line;
    const auto& cpus = host.gpus[static_cast<std::size_t>(i)].cpu_affinity.value;
    if (numa) {
      line += fmt::format("  NUMA {}", *numa);
    } else if (cpus) {
      line += "  CPUs " + *cpus;
    }
    for (const std::string& part : {nearest_text(host, gpu), nvlink_text(host, gpu)}) {
      if (!part.empty()) line += "  " + part;
    }
    if (!line.empty()) out += fmt::format("  {:<6}{}\n", device_label(host, gpu), line);
  }
  return out.empty() ? out : "Affinity\n" + out;
}

}  // namespace collbench
