#include "analysis/models/nccl/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/models/nccl/algorithms.hpp"
#include "base/error.hpp"
#include "base/record/nccl_algorithm.hpp"

namespace collbench::analysis {

std::string_view domain_name(const GpuCluster& cluster) {
  return cluster.nodes_per_domain > 1 ? "domain" : "node";
}

const LinkLimit& slower(const LinkLimit& a, const LinkLimit& b) {
  return b.gigabytes_per_second < a.gigabytes_per_second ? b : a;
}

LinkLimit gpu_link(const GpuCluster& cluster) {
  if (cluster.nvlinks == 0) return {cluster.host_path_name, cluster.host_path};
  const double rate = topology::traits(cluster.generation).achieved_nvlink.gigabytes_per_second;
  return {fmt::format("{} NVLink{} per GPU, {:.1f} GB/s each", cluster.nvlinks,
                      cluster.nvlinks == 1 ? "" : "s", rate),
          cluster.nvlinks * rate, LimitKind::nvlink};
}

namespace {

/// What a fabric leaves of the NICs of neighbors; named where it takes anything.
LinkLimit over_fabric(LinkLimit nics, const GpuCluster& cluster) {
  return with_share(std::move(nics),
                    neighbor_share(fabric_of_domains(cluster), cluster.domains(), domain_nic_count(cluster)));
}

/// `per_node` of the NICs of a domain, all of one rate.
LinkLimit equal_nics(const GpuCluster& cluster, int per_node) {
  const int nics = per_node * domain_node_count(cluster);
  LinkLimit all = one_nic(cluster);
  all.name = all.kind == LimitKind::pcie
                 ? fmt::format("the PCIe links of {} NICs, {:.1f} GB/s each", nics, cluster.nic_path)
                 : fmt::format("{} NIC{} per {}, {:g} GB/s each at {} % of line rate", nics,
                               nics == 1 ? "" : "s", domain_name(cluster), cluster.nic_line_rate,
                               std::lround(100 * traits(cluster.transport).efficiency));
  all.gigabytes_per_second *= nics;
  return all;
}

/// A node with fewer ranks than GPUs: what leaves it passes through the GPUs that are used.
LinkLimit within_gpu_paths(LinkLimit all, const GpuCluster& cluster) {
  const int gpus = domain_node_count(cluster) * cluster.ranks_per_node;
  if (cluster.gpu_path > 0 && gpus * cluster.gpu_path < all.gigabytes_per_second) {
    all.name = gpus == 1 ? fmt::format("the PCIe link of one GPU, {:.1f} GB/s", cluster.gpu_path)
                         : fmt::format("the PCIe links of {} GPUs, {:.1f} GB/s each", gpus, cluster.gpu_path);
    all.gigabytes_per_second = gpus * cluster.gpu_path;
    all.kind = LimitKind::pcie;
  }
  return all;
}

int own_nic_count(const GpuCluster& cluster) {
  return std::min(fast_nic_count(cluster), std::max(1, cluster.nics_per_gpu));
}

int scatter_nic_count(const GpuCluster& cluster) {
  const int gpus = cluster.nvlinks > 0 ? cluster.ranks_per_node : 1;
  return std::min(fast_nic_count(cluster), own_nic_count(cluster) * gpus);
}

LinkLimit nics_of_root(const GpuCluster& cluster, int nics, std::string_view whose) {
  LinkLimit some = one_nic(cluster);
  const bool pcie = some.kind == LimitKind::pcie;
  some.name = fmt::format(
      "{} NIC{} of the root{}, {:g} GB/s each{}", nics, nics == 1 ? "" : "s", whose,
      pcie ? cluster.nic_path : cluster.nic_line_rate,
      pcie ? " by PCIe"
           : fmt::format(" at {} % of line rate", std::lround(100 * traits(cluster.transport).efficiency)));
  some.gigabytes_per_second *= nics;
  return some;
}

constexpr auto kAlgorithmNames = [] {
  using enum NcclAlgorithm;
  return std::array<std::string_view, 10>{
      name(ring),          name(tree), name(nvls),  name(nvls_tree), name(collnet_direct),
      name(collnet_chain), "pairwise", "from_root", "to_root",       "send_recv"};
}();

bool reduces_all_in_switches(const Operation& operation, GpuAlgorithm algorithm) {
  return is_collnet(algorithm) && gpu_pattern(operation.id) == GpuPattern::all_reduce;
}

/// Bytes out of a domain over S.
double out_of_domain(const Operation& operation, const GpuCluster& cluster, GpuAlgorithm algorithm) {
  using enum GpuAlgorithm;
  const double ranks = cluster.ranks();
  const double local = cluster.ranks_per_domain();
  if (algorithm == tree || algorithm == nvls_tree) return cluster.domains() == 2 ? 1 : 2;
  if (algorithm == pairwise) return local * (ranks - local) / ranks;
  if (reduces_all_in_switches(operation, algorithm)) return 1;
  if (algorithm == from_root || algorithm == to_root) return (ranks - local) / ranks;
  if (algorithm == send_recv) return 1;
  return bus_factor(operation, cluster.ranks());
}

/// Bytes out of a GPU to its own domain over S.
double out_of_gpu(const Operation& operation, const GpuCluster& cluster, GpuAlgorithm algorithm) {
  using enum GpuAlgorithm;
  const double ranks = cluster.ranks();
  const double local = cluster.ranks_per_domain();
  if (algorithm == tree) return local > 2 ? 2 : 1;
  if (reduces_all_in_switches(operation, algorithm))
    return algorithm == collnet_direct ? 2 * (local - 1) / local : 2;
  if (algorithm == nvls || algorithm == nvls_tree) return (local + 1) / local;
  if (algorithm == pairwise) return (local - 1) / ranks;
  if (algorithm == from_root) return (ranks - cluster.domains()) / ranks;
  if (algorithm == to_root) return (local - 1) / ranks;
  if (algorithm == send_recv) return 1;
  return bus_factor(operation, cluster.ranks());
}

/// The part of a domain's bytes (of the root's, where there is one) that its busiest NIC carries.
double busiest_nic(const GpuCluster& cluster, GpuAlgorithm algorithm) {
  using enum GpuAlgorithm;
  if (algorithm == send_recv) return 1;
  if (algorithm == from_root) return 1.0 / scatter_nic_count(cluster);
  if (algorithm == to_root) return 1.0 / own_nic_count(cluster);
  if (algorithm == nvls_tree || algorithm == pairwise || is_collnet(algorithm)) {
    return 1.0 / (fast_nic_count(cluster) * domain_node_count(cluster));
  }
  const NicChannels plan = nic_channels(cluster);
  return static_cast<double>(plan.most_on_a_nic) / (plan.channels * domain_node_count(cluster));
}

}  // namespace

void join_domains(GpuCluster& cluster, const Fabric& fabric, const std::string& option) {
  if (fabric == Fabric{}) return;
  if (cluster.domains() < 2) {
    throw usage_error(
        option, fmt::format("all ranks are in one {}: a fabric has no part in it", domain_name(cluster)),
        "leave it out, or take more nodes");
  }
  cluster.fabric = fabric;
}

Fabric fabric_of_domains(const GpuCluster& cluster) {
  Fabric fabric = cluster.fabric;
  if (fabric.leaf_nodes > 0) fabric.leaf_nodes = std::max(1, fabric.leaf_nodes / cluster.nodes_per_domain);
  return fabric;
}

LinkLimit with_share(LinkLimit nics, double share) {
  if (share >= 1) return nics;
  nics.gigabytes_per_second *= share;
  nics.name += fmt::format(", {:.0f} % of it through the fabric", 100 * share);
  return nics;
}

LinkLimit one_nic(const GpuCluster& cluster) {
  const double line = cluster.nic_line_rate * traits(cluster.transport).efficiency;
  if (cluster.nic_path > 0 && cluster.nic_path < line) {
    return {fmt::format("the PCIe link of one NIC, {:.1f} GB/s", cluster.nic_path), cluster.nic_path,
            LimitKind::pcie};
  }
  return {fmt::format("one NIC, {:g} GB/s", cluster.nic_line_rate), line, LimitKind::nic};
}

int domain_node_count(const GpuCluster& cluster) {
  const int rest = cluster.nodes % cluster.nodes_per_domain;
  return rest == 0 ? cluster.nodes_per_domain : rest;
}

int used_nic_count(const GpuCluster& cluster) {
  return cluster.slower_nics.empty() ? fast_nic_count(cluster) : cluster.nics;
}

int domain_nic_count(const GpuCluster& cluster) {
  return used_nic_count(cluster) * domain_node_count(cluster);
}

LinkLimit own_nics(const GpuCluster& cluster) { return nics_of_root(cluster, own_nic_count(cluster), ""); }

LinkLimit scatter_nics(const GpuCluster& cluster) {
  return nics_of_root(cluster, scatter_nic_count(cluster), "'s node");
}

LinkLimit nics_below_fabric(const GpuCluster& cluster) {
  return within_gpu_paths(equal_nics(cluster, fast_nic_count(cluster)), cluster);
}

LinkLimit domain_fast_nics(const GpuCluster& cluster) {
  return over_fabric(nics_below_fabric(cluster), cluster);
}

LinkLimit limit_of_plan(LinkLimit whole, double part, const ChannelPlan& plan) {
  if (part == 1) return whole;
  const double rate = part * whole.gigabytes_per_second;
  return {fmt::format("{} channels of NCCL's plan, {:.1f} GB/s each", plan.channels, rate / plan.channels),
          rate};
}

LinkLimit domain_nics(const GpuCluster& cluster) {
  if (const PlannedNode* planned = plan_of(cluster)) {
    GpuCluster whole = with_whole_nodes(cluster);
    const LinkLimit all = domain_fast_nics(whole);
    const double part = parts_of_whole_nodes(cluster).ring;
    whole.nics = planned->nics;
    whole.gpu_path = cluster.gpu_path;
    LinkLimit counted = domain_fast_nics(whole);
    const double rate = part * all.gigabytes_per_second;
    if (std::fabs(counted.gigabytes_per_second - rate) < 1e-9 * rate) return counted;
    return limit_of_plan(all, part, planned->plan.ring);
  }
  const NicChannels plan = nic_channels(cluster);
  if (plan.nics == fast_nic_count(cluster) && plan.most_on_a_nic == 1) return domain_fast_nics(cluster);
  const int nodes = domain_node_count(cluster);
  const int nics = nodes * cluster.nics;
  LinkLimit all{fmt::format("{} NCCL channels over {} NICs per {} of unequal rates, {:.1f} GB/s each",
                            nodes * plan.channels, nics, domain_name(cluster), plan.rate / plan.channels),
                nodes * plan.rate, LimitKind::nic};
  return over_fabric(within_gpu_paths(std::move(all), cluster), cluster);
}

std::string_view name(GpuAlgorithm algorithm) {
  return kAlgorithmNames.at(static_cast<std::size_t>(algorithm));
}

std::optional<GpuAlgorithm> find_gpu_algorithm(std::string_view name) {
  const auto* const found = std::ranges::find(kAlgorithmNames, name);
  if (found == kAlgorithmNames.end()) return std::nullopt;
  return static_cast<GpuAlgorithm>(found - kAlgorithmNames.begin());
}

LinkLoads link_loads(const Operation& operation, const GpuCluster& cluster, GpuAlgorithm algorithm,
                     double algbw) {
  LinkLoads loads;
  if (cluster.domains() > 1) {
    loads.nic = algbw * out_of_domain(operation, cluster, algorithm) * busiest_nic(cluster, algorithm);
  }
  if (cluster.ranks_per_domain() > 1 && cluster.nvlinks > 0) {
    loads.nvlink = algbw * out_of_gpu(operation, cluster, algorithm) / cluster.nvlinks;
  }
  return loads;
}

}  // namespace collbench::analysis
