#include "analysis/models/nccl/cluster_of_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analysis/models/nccl/algorithms.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "analysis/models/nccl/nic_channels.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::analysis {
namespace {

bool contains(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

bool is_verbs(Transport transport) {
  return transport == Transport::infiniband || transport == Transport::roce;
}

/// NVIDIA's own plugin (nccl-rdma-sharp-plugins, part of HPC-X), which is RDMA over the same NICs as "IB".
bool is_nvidia_plugin(const std::string& network) {
  return contains(network, "IBext") || contains(network, "NCCL RDMA Plugin");
}

/// NCCL's "Using network" line: "IB", "Socket", or the name that a plugin gives itself. Without one, that
/// NCCL found no GPUDirect for NICs that are made for it.
Transport transport_of(const LogFacts& log, const GpuCluster& cluster) {
  const bool no_gpu_direct = log.gpu_direct && !log.gpu_direct->value;
  if (!log.network) {
    return no_gpu_direct && is_verbs(cluster.transport) ? Transport::staged : Transport::unknown;
  }
  const std::string& network = log.network->value;
  if (uses_sockets(log)) return Transport::sockets;
  if (contains(network, "Libfabric") && cluster.transport == Transport::plugin) return Transport::plugin;
  if (contains(network, "Libfabric")) return *find_transport("efa", cluster.generation);
  if (contains(network, "FasTrak") || contains(network, "TCPXO")) return Transport::tcpxo;
  if (contains(network, "TCPX")) return Transport::tcpx;
  if (network != "IB" && !is_nvidia_plugin(network)) return Transport::plugin;
  if (no_gpu_direct) return Transport::staged;
  if (network != "IB" && !log.link_layer) return cluster.transport;
  return log.link_layer && log.link_layer->value == "RoCE" ? Transport::roce : Transport::infiniband;
}

/// An interface that the kernel makes: what it carries passes through the CPU, whatever NICs there are.
bool is_virtual_interface(const std::string& name) {
  constexpr std::array<std::string_view, 9> kVirtual{"virbr", "docker",  "veth",  "br-", "cni",
                                                     "cali",  "flannel", "vxlan", "tap"};
  return std::ranges::any_of(kVirtual, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Whether some connection between nodes has GPUDirect RDMA, whatever the others have.
bool is_partly_direct(const LogFacts& log) {
  const bool any = std::ranges::any_of(log.connections, &LogConnections::gpu_direct);
  return any && log.gpu_direct && !log.gpu_direct->value;
}

std::string network_of(const LogFacts& log) {
  std::string text = log.network ? log.network->value : "RDMA";
  if (log.link_layer) text += fmt::format(" ({})", log.link_layer->value);
  if (log.gpu_direct)
    text += fmt::format(" {} GPUDirect RDMA", log.gpu_direct->value   ? "with"
                                              : is_partly_direct(log) ? "partly with"
                                                                      : "without");
  if (uses_sockets(log) && log.nics) {
    const std::vector<std::string>& names = log.nics->value;
    const bool all_virtual = std::ranges::all_of(names, is_virtual_interface);
    text += fmt::format(" over {}{}", fmt::join(names, ", "), all_virtual ? ", a virtual bridge" : "");
  }
  return text;
}

GpuCluster with_log_facts(GpuCluster cluster, const LogFacts& log) {
  if (log.channels) cluster.run.channels = log.channels->value;
  if (log.nvlink_least_bytes_per_second) {
    cluster.run.min_nvlinks = log.nvlink_least_bytes_per_second->value / kGigabyte;
  }
  const Transport logged = cluster.domains() > 1 ? transport_of(log, cluster) : Transport::unknown;
  if (logged != Transport::unknown) {
    cluster.transport = logged;
    cluster.run.logged = logged;
    cluster.run.network = network_of(log);
    cluster.run.is_partly_direct = is_partly_direct(log);
  }
  return cluster;
}

/// A job on some of a node's GPUs (a container, a share of a node) has the NICs that its log lists, not all
/// of the machine's. With all GPUs, fewer NICs are a finding, and the expectation stays that of the machine.
GpuCluster with_nics_of_share(GpuCluster cluster, const Run& run, std::size_t gpus) {
  const bool share = std::cmp_less(cluster.ranks_per_node, gpus);
  if (!share || !run.log || !run.log->nics || cluster.domains() == 1) return cluster;
  if (uses_sockets(*run.log)) return cluster;  // interfaces, not NICs
  const auto listed = static_cast<int>(run.log->nics->value.size());
  if (listed > 0) use_nics(cluster, listed);
  return cluster;
}

/// The quickest, not the smallest: the first row of a log is often cold (983 µs at 8 B, 167 µs at 16 B in a
/// published one).
std::optional<double> min_microseconds(const Run& run) {
  std::optional<double> quickest;
  for (const Row& row : run.rows) {
    const Measurement& measured = row.measurement;
    if (!measured.unavailable.empty() || measured.seconds <= 0 || measured.key.size_bytes > kKiB) continue;
    quickest = std::min(quickest.value_or(measured.seconds * 1e6), measured.seconds * 1e6);
  }
  return quickest;
}

/// "2.17.1+cuda12.1" before 2.18; false where no version is known.
bool nccl_before(const std::string& version, int minor) {
  int major = 0;
  int found = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &found) != 2) return false;
  return major < 2 || (major == 2 && found < minor);
}

/// Settings by which something else than NCCL's own table decides (NCCL's documentation, environment
/// variables).
constexpr std::array<std::string_view, 3> kChoosing{"NCCL_ALGO", "NCCL_PROTO", "NCCL_TUNER_PLUGIN"};

/// NCCL has NVLS from 2.17 on within a node and from 2.18 on across nodes (release notes). Where it has, and
/// the machine, too, a run without it is a slower run of the same machine: what turned it off is noted, and
/// lowers no expectation.
void note_nvls(GpuCluster& cluster, const Run& run) {
  cluster.run.no_nvls = nccl_before(run.versions.nccl, 17);
  cluster.run.no_nvls_tree = nccl_before(run.versions.nccl, 18);
  if (!gpu_nvls(cluster)) return;
  const auto variable = run.environment.find("NCCL_NVLS_ENABLE");
  if (variable != run.environment.end() && variable->second == "0") {
    cluster.run.lost_nvls = "NCCL_NVLS_ENABLE=0 is set";
  } else if (run.log && run.log->nvls_channels && run.log->nvls_channels->value == 0) {
    cluster.run.lost_nvls =
        fmt::format("NCCL set up no NVLS channels (line {})", run.log->nvls_channels->line);
  }
}

}  // namespace

GpuCluster with_run_facts(GpuCluster cluster, const Run& run, bool own_floor) {
  note_nvls(cluster, run);
  cluster.run.nccl_version = nccl_version_code(run.versions.nccl);
  cluster.run.settings_choose = std::ranges::any_of(
      kChoosing, [&](std::string_view name) { return run.environment.contains(std::string(name)); });
  const std::optional<ProcessShape> process = process_of(run);
  if (process) cluster.run.gpus_per_process = process->gpus;
  cluster.run.a_thread_per_gpu = process && process->gpus > 1 && process->gpus_per_thread() == 1;
  if (run.log) cluster = with_log_facts(std::move(cluster), *run.log);
  if (own_floor) cluster.run.min_microseconds = min_microseconds(run);
  return cluster;
}

topology::ResolvedMachine with_gpus_of_log(topology::ResolvedMachine machine, const Run& run) {
  if (!run.log || !run.log->gpu || topology::find_gpu_model(run.log->gpu->value) == nullptr) return machine;
  for (topology::Host& host : machine.topology.hosts) {
    const bool unnamed = std::ranges::none_of(
        host.gpus, [&](const topology::Gpu& gpu) { return gpu.model.known() || topology::sm_of(host, gpu); });
    if (!unnamed) continue;
    for (topology::Gpu& gpu : host.gpus) gpu.model.value = run.log->gpu->value;
  }
  return machine;
}

GpuCluster cluster_of_run(const Run& run, const topology::ResolvedMachine& machine, const std::string& where,
                          bool own_floor) {
  if (!measures_gpus(run.backend)) {
    throw usage_error(where, "was measured through MPI, where NCCL's models do not apply",
                      "judge an NCCL run or the log of one");
  }
  if (run.log && !run.log->nodes) {
    throw usage_error(where, "the log does not say how many nodes it ran on",
                      "give --nodes where the log is read");
  }
  const int nodes = node_count(run.ranks);
  const int ranks = static_cast<int>(run.ranks.size());
  const std::vector<int> locals = ranks_per_node(run.ranks);
  if (nodes == 0 || std::ranges::any_of(locals, [&](int each) { return each != locals.front(); })) {
    throw usage_error(where, fmt::format("{} ranks on {} nodes, not the same number on each", ranks, nodes),
                      "only runs with the same number of ranks on every node can be judged");
  }
  const topology::ResolvedMachine known = with_gpus_of_log(machine, run);
  const GpuCluster cluster =
      with_nics_of_share(gpu_cluster(known, nodes, locals.front()), run, known.first_host().gpus.size());
  return with_run_facts(cluster, run, own_floor);
}

}  // namespace collbench::analysis
