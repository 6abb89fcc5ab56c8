#include "src/run/gather_placement.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "topology/cluster/cluster_topology.hpp"
#include "topology/cluster/placement.hpp"

namespace collbench::program {
namespace {

// A variable that is set to nothing hides all GPUs; one that is not set hides none.
std::string message_of(const char* variable) {
  return variable == nullptr ? std::string() : std::string("=") + variable;
}

const char* variable_of(const std::string& message) {
  return message.empty() ? nullptr : message.c_str() + 1;
}

bool shows_a_gpu(const topology::ClusterTopology& cluster) {
  return std::any_of(cluster.distinct_hosts.begin(), cluster.distinct_hosts.end(),
                     [](const topology::Host& shape) { return !shape.gpus.empty(); });
}

}  // namespace

std::vector<PlacedRank> gather_placement(launch::Ranks& ranks, const Identities& machines,
                                         const topology::ClusterTopology& cluster,
                                         const char* cuda_visible_devices) {
  if (!launch::broadcast_value(ranks, shows_a_gpu(cluster))) return {};
  const std::vector<std::string> messages = ranks.gather(message_of(cuda_visible_devices));
  if (!ranks.is_root()) return {};
  std::vector<topology::Host> hosts;
  for (int node = 0; node < static_cast<int>(cluster.nodes.size()); ++node)
    hosts.push_back(topology::node_host(cluster, node));
  std::vector<topology::RankHostView> views;
  for (std::size_t rank = 0; rank < messages.size(); ++rank)
    views.push_back({machines.at(rank), topology::visible_gpus(variable_of(messages[rank]))});
  std::vector<PlacedRank> records;
  for (const topology::RankPlacement& placed : topology::placement(hosts, views)) {
    const int node = machines.at(static_cast<std::size_t>(placed.rank)).node;
    records.push_back(topology::placement_record(placed, hosts.at(static_cast<std::size_t>(node))));
  }
  return records;
}

std::vector<PlacedRank> placement_by_cuda(const std::vector<collectives::VisibleGpu>& gpus) {
  std::vector<PlacedRank> placement;
  for (const collectives::VisibleGpu& gpu : gpus) {
    PlacedRank placed;
    placed.rank = static_cast<int>(placement.size());
    placed.gpu = gpu.address;
    placed.gpu_address = gpu.address;
    placement.push_back(std::move(placed));
  }
  return placement;
}

}  // namespace collbench::program
