#include "analysis/models/nccl/nccl_choice.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace collbench::analysis {
namespace {

/// GB/s of one channel that the search tries, by GPU generation.
struct Speeds {
  std::vector<double> within;
  std::vector<double> across;
};

const Speeds& speeds(int sm) {
  static const Speeds older{{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
                            {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12}};
  static const Speeds hopper{{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
                             {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}};
  static const Speeds blackwell{
      {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18},
      {96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}};
  return sm >= 100 ? blackwell : sm >= 90 ? hopper : older;
}

/// GB/s of one NVLink in one direction, as NCCL counts it.
double nccls_nvlink_rate(int sm) { return sm >= 100 ? 40.1 : sm >= 90 ? 20.6 : 20; }

/// Every GPU forwards every channel over its NVLinks: the first speed at which the channels fill them most.
/// What is slower than 0.49 of a speed that worked is not tried any more.
NcclGraph graph_within_node(const GpuCluster& cluster) {
  const double total = cluster.nvlinks * nccls_nvlink_rate(cluster.sm);
  NcclGraph best{.nvlink = true};
  for (const double speed : speeds(cluster.sm).within) {
    if (best.channels > 0 && speed <= 0.49 * best.within_node) break;
    const int channels = static_cast<int>(total / speed);
    if (channels * speed > best.channels * best.within_node) {
      best.channels = channels;
      best.within_node = best.across_nodes = speed;
    }
  }
  return best;
}

/// One channel for each NIC at the highest speed that it carries.
NcclGraph graph_across_nodes(const GpuCluster& cluster) {
  const double nic =
      cluster.nic_path > 0 ? std::min(cluster.nic_line_rate, cluster.nic_path) : cluster.nic_line_rate;
  const std::vector<double>& tried = speeds(cluster.sm).across;
  const auto speed = std::find_if(tried.begin(), tried.end(), [&](double each) { return each <= nic; });
  NcclGraph graph{.nvlink = true};
  if (speed == tried.end()) return graph;
  graph.channels = cluster.nics;
  graph.within_node = graph.across_nodes = *speed;
  return graph;
}

void double_channels(NcclGraph& graph, int sm) {
  if (graph.within_node < 25 || (sm > 80 && graph.within_node < 50 && graph.channels > 4)) return;
  graph.channels *= 2;
  graph.within_node /= 2;
  graph.across_nodes /= 2;
}

}  // namespace

std::optional<NcclSetup> nccl_setup(const GpuCluster& cluster) {
  if (!cluster.nvswitch || cluster.nvlinks == 0 || cluster.nodes_per_domain > 1) return std::nullopt;
  NcclSetup setup;
  setup.graph = cluster.nodes == 1 ? graph_within_node(cluster) : graph_across_nodes(cluster);
  if (setup.graph.channels == 0) return std::nullopt;
  double_channels(setup.graph, cluster.sm);
  int channels = 2 * setup.graph.channels;
  if (cluster.sm >= 90 && cluster.nodes > 1 && setup.graph.within_node > 45 && channels < 16) channels *= 2;
  setup.job = {.ranks = cluster.ranks(),
               .nodes = cluster.nodes,
               .sm = cluster.sm,
               .amd_cpu = false,
               .collective_channels = channels,
               .plain_tree = false};
  return setup;
}

std::optional<NcclChoice> nccl_choice(OperationId operation, std::uint64_t size_bytes,
                                      const GpuCluster& cluster) {
  const auto setup = nccl_setup(cluster);
  if (!setup) return std::nullopt;
  std::optional<NcclChoice> best;
  for (const NcclAlgorithm algorithm : {NcclAlgorithm::ring, NcclAlgorithm::tree}) {
    for (const NcclProtocol protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
      const auto seconds = nccl_seconds(operation, algorithm, protocol, setup->job, setup->graph, size_bytes);
      if (seconds && (!best || *seconds < best->seconds)) best = {algorithm, protocol, *seconds};
    }
  }
  return best;
}

}  // namespace collbench::analysis
