// Time and memory of grouping 1,024 nodes of eight GPUs and comparing the odd ones with the majority, without
// reading them: usage group_nodes < a node as `topo save` writes it.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "topology/graph/topology_json.hpp"

namespace {

using namespace collbench;

constexpr int kNodes = 1024;

/// What makes a node odd.
const std::vector<std::function<void(topology::Host&)>>& faults() {
  static const std::vector<std::function<void(topology::Host&)>> kinds{
      [](topology::Host& host) { host.gpus[3].nvlinks_active.value = 17; },
      [](topology::Host& host) { host.gpus[5].mig.value = true; },
      [](topology::Host& host) { host.nics[2].ports[0].state.value = "DOWN"; },
      [](topology::Host& host) { host.nics[6].ports[0].gigabits_per_second.value = 200; },
      [](topology::Host& host) { host.pci_devices[2].link_max.width.value = 8; },
      [](topology::Host& host) { host.fabric_manager.value = "failed"; },
      [](topology::Host& host) { host.peer_memory.value = "none"; },
      [](topology::Host& host) { host.nics[1].firmware.value = "28.36.1010"; }};
  return kinds;
}

topology::Host node(topology::Host host, int number) {
  host.name.value = fmt::format("node{:04}", number);
  for (std::size_t i = 0; i < host.gpus.size(); ++i)
    host.gpus[i].uuid.value = fmt::format("GPU-{}-{}", number, i);
  const int apart = kNodes / static_cast<int>(faults().size());
  if (number % apart == 7) faults()[static_cast<std::size_t>(number / apart)](host);
  return host;
}

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const topology::Host first = topology::load_topology(text, "stdin").hosts.at(0);
  std::vector<topology::Host> nodes;
  for (int i = 0; i < kNodes; ++i) nodes.push_back(node(first, i));
  const auto start = std::chrono::steady_clock::now();
  topology::HostGroups groups;
  for (int i = 0; i < kNodes; ++i)
    groups.add(std::move(nodes[static_cast<std::size_t>(i)]), fmt::format("n{}", i));
  const analysis::DiffReport report = analysis::compare_groups(groups.take());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{} nodes, {} GPUs and {} stated paths each: {:.3f} s, at most {} MB, {} odd\n", kNodes,
             first.gpus.size(), first.stated_paths.size(), taken.count(), usage.ru_maxrss * 1024 / 1000000,
             report.pairs.size());
}
