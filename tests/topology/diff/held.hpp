#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "topology/graph/path.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

inline constexpr int kNotCounted = -1;

/// Whether GPUs and NICs have an element of their own in NCCL's XML, beside the PCI function.
enum class Granularity { by_class, by_element };

/// What a file holds, counted by other means than our readers.
struct Held {
  const char* file = "";
  int gpus = 0;
  int nics = 0;
  int numa_nodes = 0;
  int pci_devices = 0;
  int bundles = 0;  ///< entries for NVLinks, each direction one
  int links = 0;    ///< NVLinks, summed over the GPUs
  const char* how = "";
  Granularity granularity = Granularity::by_class;
};

inline int total_nvlinks(const Host& host) {
  int links = 0;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i)
    links += nvlinks_of(host, {DeviceKind::gpu, i});
  return links;
}

/// The counts of a row in words.
inline std::string held(const Held& row) {
  return fmt::format(
      "{} GPUs ({} with an element), {} NICs ({} with a port), {} NUMA nodes, {} PCI functions, {} bundles "
      "of {} links",
      row.gpus, row.granularity == Granularity::by_element ? row.gpus : kNotCounted, row.nics,
      row.granularity == Granularity::by_element ? row.nics : kNotCounted, row.numa_nodes, row.pci_devices,
      row.bundles, row.links);
}

/// The same of what was read, as far as `row` counts it.
inline std::string held(const Held& row, const Host& host) {
  const auto count = [](const auto& items, auto fits) {
    return static_cast<int>(std::count_if(items.begin(), items.end(), fits));
  };
  const bool by_element = row.granularity == Granularity::by_element;
  return fmt::format(
      "{} GPUs ({} with an element), {} NICs ({} with a port), {} NUMA nodes, {} PCI functions, {} bundles "
      "of {} links",
      host.gpus.size(),
      by_element ? count(host.gpus, [](const Gpu& gpu) { return gpu.sm.known(); }) : kNotCounted,
      host.nics.size(),
      by_element ? count(host.nics, [](const Nic& nic) { return !nic.ports.empty(); }) : kNotCounted,
      host.numa_nodes.size(),
      row.pci_devices == kNotCounted ? kNotCounted : static_cast<int>(host.pci_devices.size()),
      host.nvlinks.size(), total_nvlinks(host));
}

}  // namespace collbench::topology
