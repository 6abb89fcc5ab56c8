#include "tools/plan/step/group_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/links.hpp"

namespace collbench::analysis {

namespace {

GpuCluster cluster_of_group(const GpuCluster& machine, const DomainRuns& runs) {
  GpuCluster cluster = machine;
  cluster.planned.reset();
  const bool lost_nic =
      std::ranges::any_of(machine.slower_nics, [](const NicLink& nic) { return nic.line_rate <= 0; });
  cluster.slower_nics.clear();
  // Of the fabric, what it leaves of the NICs' rate is in it (join_fabric), and switches that reduce.
  cluster.fabric = Fabric{.sharp = machine.fabric.sharp};
  // A domain's part of the group as nodes: their number of ranks matters to the model, not which they are.
  cluster.ranks_per_node = std::min(runs.ranks_in_domain, machine.ranks_per_node);
  const int nodes_in_domain = (runs.ranks_in_domain + cluster.ranks_per_node - 1) / cluster.ranks_per_node;
  cluster.nodes_per_domain = std::max(1, nodes_in_domain);
  cluster.nodes = runs.domains() * cluster.nodes_per_domain;
  const int domain = machine.ranks_per_node * machine.nodes_per_domain;
  const double share = static_cast<double>(runs.ranks_in_domain) / domain * machine.nodes_per_domain /
                       cluster.nodes_per_domain;
  const double own = machine.nics * std::min(1.0, share);
  cluster.nics = std::max(1, static_cast<int>(std::lround(own)));
  // Where nodes have fewer NICs than GPUs, groups share one. The group that lost one (cost_of_nic_down) has
  // the others of its own, or shares that of a group beside it; all others wait for it.
  const double left = lost_nic ? std::max(own - 1, own / 2) : own;
  const double rate = left / std::max<double>(own, cluster.nics);
  if (rate < 1) cluster.nic_line_rate *= rate, cluster.nic_path *= rate;
  return cluster;
}

/// With ranks on nodes by chance, what leaves a leaf does not depend on the order of ranks.
LeafCrossings crossings_by_chance(const DomainRuns& runs, int domains, int leaf) {
  const double below = std::min(leaf, domains);
  const double outside = domains > leaf ? static_cast<double>(domains - leaf) / (domains - 1) : 0;
  return {.hops = runs.domains(),
          .hops_outside = static_cast<int>(std::lround(outside * runs.domains())),
          .leaves = std::min(runs.domains(), (domains + leaf - 1) / leaf),
          .load = {.ring = below * outside, .exchange = below * outside, .domains = below}};
}

/// The leaf switches above the group, and what they leave of its NICs.
void join_fabric(const GpuCluster& machine, const TrainingJob& job, const DomainRuns& runs, bool exchanges,
                 RankGroup& group) {
  const Fabric& fabric = machine.fabric;
  if (fabric.kind == FabricKind::unstated || runs.domains() < 2) return;
  const int leaf = std::max(1, leaf_nodes(fabric, machine.nics) / machine.nodes_per_domain);
  const int gpus = machine.ranks_per_node * machine.nodes_per_domain;
  const int domains = (job.gpus() + gpus - 1) / gpus;
  group.crossings = fabric.ordered ? leaf_crossings(runs, domains, leaf, exchanges)
                                   : crossings_by_chance(runs, domains, leaf);
  // The node's NICs: of a group that has some of them alone the others are the other groups'.
  const int nics = machine.nics * machine.nodes_per_domain;
  Fabric below = fabric;
  below.leaf_nodes = leaf;
  const LeafLoad& load = group.crossings.load;
  const double peers = load.exchange / std::max(1.0, load.domains) * group.cluster.ranks();
  group.fabric_share =
      exchanges ? exchange_share(below, load, nics, peers) : neighbor_share(below, load, nics);
  group.cluster.nic_line_rate *= group.fabric_share;
  group.cluster.nic_path *= group.fabric_share;
}

}  // namespace

RankGroup rank_group(const GpuCluster& machine, const TrainingJob& job, GroupKind kind) {
  const std::vector<RankRun> runs = group_runs(job, kind);
  const int domain = machine.ranks_per_node * machine.nodes_per_domain;
  // A send has two ends, whatever the number of stages.
  std::vector<RankRun> ends = runs;
  if (kind == GroupKind::stages && !ends.empty()) ends.front().count = 2;
  RankGroup group{.size = group_size(ends), .cluster = cluster_of_group(machine, domain_runs(ends, domain))};
  join_fabric(machine, job, domain_runs(runs, domain), kind == GroupKind::expert, group);
  return group;
}

double group_seconds(const RankGroup& group, OperationId operation, double bytes) {
  if (group.size < 2 || bytes < 1) return 0;
  const double seconds = expect_on_gpus(operation, static_cast<std::uint64_t>(bytes), group.cluster)
                             .expected_seconds.value_or(0);
  return seconds * group.measured_ratio(operation, bytes).value_or(1);
}

std::string crossed_links(const RankGroup& group) {
  if (group.size < 2) return "nothing";
  GpuCluster cluster = group.cluster;
  cluster.nic_line_rate /= group.fabric_share;
  cluster.nic_path /= group.fabric_share;
  const std::string name = group.crosses_nodes() ? domain_nics(cluster).name : gpu_link(cluster).name;
  const std::string share = group.fabric_share < 1
                                ? fmt::format(", {:.0f} % of it through the fabric", 100 * group.fabric_share)
                                : "";
  // "1 NIC per node, 50 GB/s each at 95 % of line rate": the part of it is the same in every line.
  const std::string link = name.substr(0, name.find(" at "));
  // The ranks of the group alone use these: beside them other groups use the node's other NICs.
  const std::string per_node = fmt::format("{} NIC{} per node, ", cluster.nics, cluster.nics == 1 ? "" : "s");
  if (cluster.nics != cluster.ranks_per_node || !link.starts_with(per_node)) return link + share;
  const std::string rate = link.substr(per_node.size());
  return "1 NIC per GPU, " + rate.substr(0, rate.find(" each")) + share;
}

}  // namespace collbench::analysis
