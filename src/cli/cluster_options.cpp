#include "src/cli/cluster_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/links.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "base/error.hpp"
#include "src/cli/options.hpp"

namespace collbench::program {
namespace {

/// Throws Error (usage) where no operation that was asked for has the algorithm on this machine.
void force_algorithm(analysis::GpuCluster& cluster, const std::string& algorithm,
                     const std::vector<OperationId>& operations) {
  std::vector<std::string> known;
  for (const OperationId id : operations) {
    for (const analysis::AlgorithmRate& rate : analysis::gpu_algorithms(id, cluster)) {
      const std::string name(analysis::name(rate.algorithm));
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  if (std::ranges::find(known, algorithm) == known.end()) {
    throw usage_error(
        "--algo", fmt::format("there is no '{}' for these operations on this machine", algorithm),
        fmt::format("choose among {}{}", fmt::join(known, ", "),
                    cluster.fabric.sharp ? "" : "; collnet_direct and collnet_chain need --fabric …,sharp"));
  }
  cluster.run.algorithm = algorithm;
}

}  // namespace

void add_cluster_options(CLI::App& app, const std::string& theme, ClusterOptions& options) {
  const auto add = [&](const std::string& name, const std::string& value, const std::string& help,
                       const std::function<void(const std::string&)>& take) {
    add_option(app, theme, name, value, help, [&options, name, take](const std::string& text) {
      take(text);
      options.words.push_back(name + "=" + text);
    });
  };
  add("--topology", "NAME|FILE", "a reference machine, or a file that describes a node",
      into(options.topology));
  add("--nodes", "N", "number of such nodes (1); with --floors a list, as 1,2,4,8",
      [&options](const std::string& text) {
        options.nodes.clear();
        for (const std::string& each : split_list(text))
          options.nodes.push_back(parse_number(each, "--nodes", 1, 1'000'000));
      });
  add("--ranks-per-node", "N", "GPUs used per node (all)",
      number_into(options.ranks_per_node, "--ranks-per-node", 1, 4096));
  add("--transport", "NAME", "ib, roce, efa, tcpx, tcpxo, plugin, staged (RDMA without GPUDirect) or sockets",
      into(options.transport));
  add("--fabric", "WORDS",
      "what joins the nodes, as fat-tree,leaf=32,oversubscription=2,routing=ecmp,flows=4,sharp",
      [&options](const std::string& text) { options.fabric = analysis::parse_fabric(text, "--fabric"); });
  add("--algo", "NAME", "the algorithm that runs, as NCCL_ALGO would force it", into(options.algorithm));
  add("--nccl-version", "VERSION", "that runs, as 2.28.9 (not told)", [&options](const std::string& text) {
    options.nccl_version = analysis::nccl_version_code(text);
    if (options.nccl_version == 0) {
      throw usage_error("--nccl-version", "'" + text + "' is no version from 2.9 on",
                        "give it as NCCL prints it, such as 2.28.9");
    }
  });
}

int only_nodes(const ClusterOptions& options) {
  if (options.nodes.size() > 1)
    throw usage_error("--nodes", "several counts are for --floors", "give one, or add --floors");
  return options.nodes.front();
}

analysis::GpuCluster cluster_of(const ClusterOptions& options, const topology::ResolvedMachine& machine,
                                int nodes, const std::vector<OperationId>& operations) {
  analysis::GpuCluster cluster = analysis::gpu_cluster(machine, nodes, options.ranks_per_node);
  if (cluster.ranks() < 2) {
    throw usage_error("--ranks-per-node", "a collective needs at least two ranks", "give two or more");
  }
  if (!options.transport.empty())
    cluster.transport = cluster.nic_transport =
        analysis::transport_option(options.transport, cluster.generation);
  analysis::join_domains(cluster, options.fabric, "--fabric");
  cluster.run.nccl_version = options.nccl_version;
  if (!options.algorithm.empty()) force_algorithm(cluster, options.algorithm, operations);
  return cluster;
}

}  // namespace collbench::program
