#include "analysis/models/nccl/cluster_of_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

bool contains(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

/// NCCL's "Using network" line: "IB", "Socket", or the name that a plugin gives itself.
Transport transport_of(const LogFacts& log, const GpuCluster& cluster) {
  const std::string& network = log.network->value;
  if (contains(network, "Socket")) return Transport::sockets;
  if (contains(network, "Libfabric")) return *find_transport("efa", cluster.sm);
  if (contains(network, "FasTrak") || contains(network, "TCPXO")) return Transport::tcpxo;
  if (contains(network, "TCPX")) return Transport::tcpx;
  if (network != "IB" && network != "IBext") {
    return contains(network, "IBext") ? cluster.transport : Transport::plugin;
  }
  if (log.gpu_direct && !log.gpu_direct->value) return Transport::staged;
  return log.link_layer && log.link_layer->value == "RoCE" ? Transport::roce : Transport::infiniband;
}

std::string network_of(const LogFacts& log) {
  std::string text = log.network->value;
  if (log.link_layer) text += fmt::format(" ({})", log.link_layer->value);
  if (log.gpu_direct) text += fmt::format(" {} GPUDirect RDMA", log.gpu_direct->value ? "with" : "without");
  return text;
}

GpuCluster with_log_facts(GpuCluster cluster, const LogFacts& log) {
  if (log.gpus_per_process) cluster.run.gpus_per_process = log.gpus_per_process->value;
  cluster.run.a_thread_per_gpu = log.threads_per_process && log.threads_per_process->value > 1;
  if (log.channels) cluster.run.channels = log.channels->value;
  if (log.nvlink_least_bytes_per_second) {
    cluster.run.min_nvlinks = log.nvlink_least_bytes_per_second->value / kGigabyte;
  }
  if (log.network && cluster.domains() > 1) {
    cluster.transport = transport_of(log, cluster);
    cluster.run.network = network_of(log);
  }
  return cluster;
}

std::optional<double> min_microseconds(const Run& run) {
  const Measurement* smallest = nullptr;
  const auto order = [](const Measurement& row) { return std::pair(row.key.size_bytes, row.seconds); };
  for (const Row& row : run.rows) {
    const Measurement& measured = row.measurement;
    if (!measured.unavailable.empty() || measured.seconds <= 0 || measured.key.size_bytes > kKiB) continue;
    if (smallest == nullptr || order(measured) < order(*smallest)) smallest = &measured;
  }
  if (smallest == nullptr) return std::nullopt;
  return smallest->seconds * 1e6;
}

}  // namespace

GpuCluster with_run_facts(GpuCluster cluster, const Run& run, bool own_floor) {
  if (run.log) cluster = with_log_facts(std::move(cluster), *run.log);
  if (own_floor) cluster.run.min_microseconds = min_microseconds(run);
  return cluster;
}

GpuCluster cluster_of_run(const Run& run, const topology::ResolvedMachine& machine, const std::string& where,
                          bool own_floor) {
  if (!measures_gpus(run.backend)) {
    throw usage_error(where, "was measured on host memory, where a GPU topology does not apply",
                      "judge an NCCL run or an imported log");
  }
  if (run.log && !run.log->nodes) {
    throw usage_error(where, "the log does not say how many nodes it ran on",
                      "pass --nodes to collbench import");
  }
  const int nodes = node_count(run.ranks);
  const int ranks = static_cast<int>(run.ranks.size());
  const std::vector<int> locals = ranks_per_node(run.ranks);
  if (nodes == 0 ||
      std::any_of(locals.begin(), locals.end(), [&](int each) { return each != locals.front(); })) {
    throw usage_error(where, fmt::format("{} ranks on {} nodes, not the same number on each", ranks, nodes),
                      "only runs with the same number of ranks on every node can be judged");
  }
  return with_run_facts(gpu_cluster(machine, nodes, locals.front()), run, own_floor);
}

}  // namespace collbench::analysis
