#include "analysis/models/nccl/nccl_cost.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <ranges>
#include <span>

#include "analysis/models/nccl/gpu_generations.hpp"
#include "analysis/models/nccl/planned_node.hpp"

namespace collbench::analysis {
namespace {

using PerProtocol = std::array<double, 3>;        // LL, LL128, Simple; microseconds
using PerAlgorithm = std::array<PerProtocol, 7>;  // by NcclAlgorithm; CollNet's are not restated

constexpr PerAlgorithm kBase{{{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {}, {}, {0, 0, 0}, {0, 0, 0}, {8, 8, 8}}};
constexpr PerAlgorithm kNvlink{
    {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, {}, {}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4.0}}};
constexpr PerAlgorithm kPci{{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {}, {}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4.0}}};
constexpr PerAlgorithm kNetwork{
    {{5.0, 8.5, 14}, {2.7, 4.0, 14.0}, {}, {}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}};

/// By powers of two from 64 B on: trees fall short of the model at medium sizes, those over NVLS from
/// Blackwell on.
constexpr std::array<std::array<double, 24>, 3> kTreeCorrection{{
    {1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1, 1},
    {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
     0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9},
}};

template <typename Enumeration>
constexpr std::size_t at(Enumeration value) {
  return static_cast<std::size_t>(value);
}

int whole_log2(int value) { return static_cast<int>(std::bit_width(static_cast<unsigned>(value))) - 1; }

int steps(OperationId operation, int ranks) {
  return operation == OperationId::all_reduce ? 2 * (ranks - 1) : ranks - 1;
}

bool exists(OperationId operation, NcclAlgorithm algorithm, NcclProtocol protocol, const NcclJob& job,
            const NcclGraph& graph) {
  const bool reduces_all = operation == OperationId::all_reduce;
  if (!reduces_all && operation != OperationId::all_gather && operation != OperationId::reduce_scatter) {
    return false;
  }
  const bool simple = protocol == NcclProtocol::simple;
  switch (algorithm) {
    case NcclAlgorithm::ring:
      return true;
    case NcclAlgorithm::tree:
      return reduces_all;
    case NcclAlgorithm::nvls:  // across nodes only with CollNet, which is not restated
      return simple && graph.channels >= 2 && job.nodes == 1;
    case NcclAlgorithm::nvls_tree:
      return simple && graph.channels >= 2 && job.nodes > 1 && reduces_all;
    case NcclAlgorithm::pat:
      return simple && !reduces_all && job.ranks == job.nodes;
    case NcclAlgorithm::collnet_direct:
    case NcclAlgorithm::collnet_chain:
      break;
  }
  return false;
}

/// GB/s of one channel before the algorithm's own limits.
double channel_rate(OperationId operation, NcclAlgorithm algorithm, const NcclJob& job,
                    const NcclGraph& graph) {
  if (algorithm != NcclAlgorithm::nvls && algorithm != NcclAlgorithm::nvls_tree) {
    return job.nodes <= 2 ? graph.within_node : graph.across_nodes;
  }
  const double local = static_cast<double>(job.ranks) / job.nodes;
  const NcclGeneration& generation = nccl_generation(job.generation);
  double within = graph.within_node * generation.nvls_efficiency * (graph.channels - 1) / graph.channels;
  within *= operation == OperationId::all_reduce ? 2 : (local - 1) / local;
  if (algorithm == NcclAlgorithm::nvls) return std::min(within, graph.across_nodes);
  const double across = graph.across_nodes * (job.nodes <= 2 ? 2 : 1);
  return std::min({within, across, at_nodes(generation.max_nvls_tree, job.nodes)});
}

/// GB/s as busbw.
double bus_rate(OperationId operation, NcclAlgorithm algorithm, NcclProtocol protocol, const NcclJob& job,
                const NcclGraph& graph) {
  const NcclGeneration& generation = nccl_generation(job.generation);
  const auto most = [&](const PerNodes& each) { return graph.channels * at_nodes(each, job.nodes); };
  // Within a node the GPUs bound LL, across nodes the CPUs.
  const auto of_cpu = job.amd_cpu ? GpuGeneration::ampere : GpuGeneration::volta;
  const double max_ll = at_nodes(nccl_generation(job.nodes == 1 ? job.generation : of_cpu).max_ll, job.nodes);
  double rate = graph.channels * channel_rate(operation, algorithm, job, graph);
  if (algorithm == NcclAlgorithm::ring) {
    if (protocol == NcclProtocol::ll) return std::min(max_ll, rate * 0.5);
    if (protocol == NcclProtocol::ll128) return std::min(rate * 0.92, most(generation.max_ring_ll128));
  }
  if (algorithm == NcclAlgorithm::tree) {
    rate = std::min(rate * 0.92, most(generation.max_tree));
    if (protocol == NcclProtocol::ll) rate = std::min(rate / 3.8, max_ll);
    if (protocol == NcclProtocol::ll128) {
      rate = std::min(rate * (job.nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0), most(generation.max_tree_ll128));
    }
    if (job.plain_tree) rate *= 0.85;
  }
  return algorithm == NcclAlgorithm::pat ? rate * 0.75 : rate;
}

double latency(OperationId operation, NcclAlgorithm algorithm, NcclProtocol protocol, const NcclJob& job,
               const NcclGraph& graph) {
  const auto p = at(protocol);
  const double base = kBase[at(algorithm)][p];
  const double within = (graph.nvlink ? kNvlink : kPci)[at(algorithm)][p];
  const bool simple = protocol == NcclProtocol::simple;
  // One rank per node: nothing hides the network's latency, which the tree's shows. Simple flushes as well.
  const double across = kNetwork[at(job.ranks == job.nodes ? NcclAlgorithm::tree : algorithm)][p] +
                        graph.network_microseconds * (simple ? 2 : 1);
  const int log_nodes = whole_log2(job.nodes);
  const int others_in_node = job.ranks / job.nodes - 1;
  switch (algorithm) {
    case NcclAlgorithm::ring: {
      const double overhead = job.nodes == 1 ? 0 : (job.amd_cpu ? 2.0 : 1.0) * (simple ? 3 : 1);
      const int crossings = steps(operation, job.nodes);
      return base + (steps(operation, job.ranks) - crossings) * std::max(within, overhead) +
             crossings * across;
    }
    case NcclAlgorithm::tree:
      return base + 2 * (others_in_node * within + log_nodes * across);
    case NcclAlgorithm::nvls:
      return within;
    case NcclAlgorithm::nvls_tree:
      return base + within + 2 * log_nodes * across;
    case NcclAlgorithm::pat:
    case NcclAlgorithm::collnet_direct:
    case NcclAlgorithm::collnet_chain:
      break;
  }
  return base + log_nodes * across / 3.5 + job.ranks * 2.8;
}

/// The first speed at which the channels carry most. What is slower than 0.49 of a speed that worked is not
/// tried any more.
template <class ChannelsAt>
NcclGraph searched_graph(std::span<const double> tried, ChannelsAt channels_at) {
  NcclGraph best{.nvlink = true};
  for (const double speed : tried) {
    if (best.channels > 0 && speed <= 0.49 * best.within_node) break;
    const int channels = channels_at(speed);
    if (channels * speed > best.channels * best.within_node) {
      best.channels = channels;
      best.within_node = best.across_nodes = speed;
    }
  }
  return best;
}

/// Every GPU forwards every channel over its NVLinks.
NcclGraph graph_within_node(const GpuCluster& cluster) {
  const double total = cluster.nvlinks * topology::traits(cluster.generation).nvlink.gigabytes_per_second;
  return searched_graph(nccl_generation(cluster.generation).node_speeds,
                        [&](double speed) { return static_cast<int>(total / speed); });
}

constexpr int kMaxChannels = 64;  // NCCL 2.30.7 src/include/nccl_device.h, MAXCHANNELS

/// GB/s that all channels of a node carry together over NVLinks: one leaves every GPU but its last over them.
double nvlink_room(const GpuCluster& cluster) {
  const double ranks = cluster.ranks_per_node;
  return cluster.nvlinks * topology::traits(cluster.generation).nvlink.gigabytes_per_second * ranks /
         std::max(1.0, ranks - 1);
}

/// One channel for each NIC at a speed that it carries, as far as the NVLinks carry them all.
NcclGraph graph_across_nodes(const GpuCluster& cluster) {
  const double nic =
      cluster.nic_path > 0 ? std::min(cluster.nic_line_rate, cluster.nic_path) : cluster.nic_line_rate;
  const double nvlinks = nvlink_room(cluster);
  return searched_graph(nccl_generation(cluster.generation).network_speeds, [&](double speed) {
    return speed > nic ? 0 : std::min({cluster.nics, kMaxChannels, static_cast<int>(nvlinks / speed)});
  });
}

void double_channels(NcclGraph& graph, GpuGeneration generation) {
  if (graph.within_node < 25) return;
  if (generation > GpuGeneration::ampere && graph.within_node < 50 && graph.channels > 4) return;
  graph.channels *= 2;
  graph.within_node /= 2;
  graph.across_nodes /= 2;
}

/// The trees that belong to rings across nodes: within the node at the highest speed up to twice the NIC's
/// that the NVLinks carry.
NcclGraph tree_across_nodes(const GpuCluster& cluster, NcclGraph tree) {
  const std::span<const double> tried = nccl_generation(cluster.generation).network_speeds;
  for (const double speed : std::views::reverse(tried)) {
    if (speed <= tree.within_node) continue;
    if (tree.within_node >= 2 * tree.across_nodes || tree.channels * speed > nvlink_room(cluster)) break;
    tree.within_node = speed;
  }
  return tree;
}

/// A GPU sends each head's part to the switch, and as a head receives its own: `ranks` + 1 parts pass its
/// links.
NcclGraph nvls_within_node(const GpuCluster& cluster) {
  if (cluster.generation < GpuGeneration::hopper) return {};
  const double most = cluster.nvlinks * topology::traits(cluster.generation).nvlink.gigabytes_per_second /
                      (cluster.ranks_per_node + 1);
  const std::span<const double> tried = nccl_generation(cluster.generation).node_speeds;
  const auto speed = std::ranges::find_if(tried, [most](double each) { return each <= most; });
  if (speed == tried.end()) return {};
  // No NIC lowers the speed across nodes, which the cost model looks at all the same.
  return {.channels = cluster.ranks_per_node,
          .within_node = *speed,
          .across_nodes = tried.front(),
          .nvlink = true};
}

NcclSetup searched_setup(const GpuCluster& cluster) {
  NcclSetup setup;
  setup.graph = cluster.nodes == 1 ? graph_within_node(cluster) : graph_across_nodes(cluster);
  double_channels(setup.graph, cluster.generation);
  setup.tree = cluster.nodes == 1 ? setup.graph : tree_across_nodes(cluster, setup.graph);
  if (cluster.nodes == 1) setup.nvls = nvls_within_node(cluster);
  setup.job.plain_tree =
      cluster.nodes > 1 && cluster.generation >= GpuGeneration::hopper && cluster.one_gpu_per_nic;
  return setup;
}

NcclSetup setup_of_plan(const NodePlan& plan) {
  return {.job = {.plain_tree = plan.tree.pattern == ChannelPattern::tree},
          .graph = graph_of(plan.ring),
          .tree = graph_of(plan.tree),
          .nvls = graph_of(plan.nvls)};
}

}  // namespace

std::optional<NcclCost> nccl_cost(OperationId operation, NcclAlgorithm algorithm, NcclProtocol protocol,
                                  const NcclJob& job, const NcclGraph& graph) {
  if (job.ranks < 2 || !exists(operation, algorithm, protocol, job, graph)) return std::nullopt;
  double rate = bus_rate(operation, algorithm, protocol, job, graph);
  const bool ring = algorithm == NcclAlgorithm::ring;
  if (ring || operation == OperationId::all_reduce) {
    const bool half = algorithm == NcclAlgorithm::tree;
    rate *= half ? 0.5 : static_cast<double>(job.ranks) / steps(operation, job.ranks);
  }
  if (rate <= 0) return std::nullopt;
  return NcclCost{.latency_microseconds = latency(operation, algorithm, protocol, job, graph),
                  .gigabytes_per_second = rate};
}

std::optional<double> nccl_seconds(OperationId operation, NcclAlgorithm algorithm, NcclProtocol protocol,
                                   const NcclJob& job, const NcclGraph& graph, std::uint64_t size_bytes) {
  auto cost = nccl_cost(operation, algorithm, protocol, job, graph);
  if (!cost) return std::nullopt;
  const auto power = static_cast<std::size_t>(std::bit_width(size_bytes / 64));  // one above its logarithm
  const bool reduces_all = operation == OperationId::all_reduce;
  // ncclTopoGetAlgoTime leaves a tree's last entry out; NVLS trees it corrects on x86 alone, which is taken
  // for granted: racks, which are not x86, have no setup.
  const bool corrected_nvls =
      algorithm == NcclAlgorithm::nvls_tree && job.generation >= GpuGeneration::blackwell;
  const std::size_t corrected = algorithm == NcclAlgorithm::tree ? 23 : corrected_nvls ? 24 : 0;
  if (power >= 1 && power <= corrected) {
    cost->gigabytes_per_second *= kTreeCorrection[at(protocol)][power - 1];
  }
  const auto per_channel =
      size_bytes / static_cast<std::uint64_t>(std::max(1, job.collective_channels) * job.ranks);
  if (algorithm == NcclAlgorithm::ring && protocol == NcclProtocol::simple && job.nodes > 1 && reduces_all &&
      per_channel >= 64) {
    cost->latency_microseconds *= job.generation < GpuGeneration::ampere ? 1.9 : 1.4;  // its plateau
  }
  return cost->latency_microseconds / 1e6 +
         static_cast<double>(size_bytes) / (cost->gigabytes_per_second * 1e9);
}

NcclGraph graph_of(const ChannelPlan& plan) {
  return {.channels = plan.channels,
          .within_node = plan.within_node,
          .across_nodes = plan.across_nodes,
          .nvlink = true};
}

const NcclGraph& NcclSetup::channels_of(NcclAlgorithm algorithm) const {
  switch (algorithm) {
    case NcclAlgorithm::tree:
    case NcclAlgorithm::pat:
      return tree;
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::nvls_tree:
      return nvls;
    case NcclAlgorithm::ring:
    case NcclAlgorithm::collnet_direct:
    case NcclAlgorithm::collnet_chain:
      break;
  }
  return graph;
}

std::optional<NcclSetup> nccl_setup(const GpuCluster& cluster) {
  if (!cluster.nvswitch || cluster.nvlinks == 0 || cluster.nodes_per_domain > 1) return std::nullopt;
  const PlannedNode* planned = plan_of(cluster);
  if (planned == nullptr && cluster.nodes > 1 && !cluster.slower_nics.empty()) return std::nullopt;
  NcclSetup setup = planned != nullptr ? setup_of_plan(planned->plan) : searched_setup(cluster);
  if (setup.graph.channels == 0) return std::nullopt;
  int channels = 2 * setup.graph.channels;
  if (cluster.generation >= GpuGeneration::hopper && cluster.nodes > 1 && setup.graph.within_node > 45 &&
      channels < 16)
    channels *= 2;
  setup.job.ranks = cluster.ranks();
  setup.job.nodes = cluster.nodes;
  setup.job.generation = cluster.generation;
  setup.job.amd_cpu = cluster.amd_cpu;
  setup.job.collective_channels = channels;
  return setup;
}

std::optional<NcclChoice> nccl_choice(OperationId operation, std::uint64_t size_bytes,
                                      const GpuCluster& cluster) {
  // The shorter search takes all NICs of a node, where NCCL takes those near the GPUs in use, and knows no
  // NVLS.
  if (cluster.nodes > 1 && plan_of(cluster) == nullptr) return std::nullopt;
  const auto setup = nccl_setup(cluster);
  if (!setup) return std::nullopt;
  std::optional<NcclChoice> best;
  for (const NcclAlgorithm algorithm : {NcclAlgorithm::ring, NcclAlgorithm::tree, NcclAlgorithm::nvls,
                                        NcclAlgorithm::nvls_tree, NcclAlgorithm::pat}) {
    for (const NcclProtocol protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
      const auto seconds =
          nccl_seconds(operation, algorithm, protocol, setup->job, setup->channels_of(algorithm), size_bytes);
      if (seconds && (!best || *seconds < best->seconds)) best = {algorithm, protocol, *seconds};
    }
  }
  return best;
}

}  // namespace collbench::analysis
