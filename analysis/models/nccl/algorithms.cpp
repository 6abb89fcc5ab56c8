#include "analysis/models/nccl/algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/models/nccl/gpu_generations.hpp"

namespace collbench::analysis {
namespace {

/// The rate of whole nodes, of which the plan leaves a part.
AlgorithmRate by_plan(AlgorithmRate whole, double part, const ChannelPlan& plan) {
  if (part == 1) return whole;
  whole.gigabytes_per_second *= part;
  whole.limit = limit_of_plan(std::move(whole.limit), part, plan);
  return whole;
}

constexpr double kTreeEfficiency =
    0.92;  // NCCL 2.30 src/graph/tuning.cc: bandwidth of a tree over that of its links
constexpr int kChannelsOfOneNode = 24;  // 2 × 12 on 8 A100 (published log); more on newer ones: no bound

int channels(const GpuCluster& cluster) {
  if (cluster.domains() == 1) return kChannelsOfOneNode;
  return std::min(nic_channels(cluster).channels * cluster.nodes_per_domain, cluster.ranks_per_domain());
}

/// The chain of a domain's GPUs: S up and S down each link, in one direction only where there are two GPUs.
LinkLimit chain(const GpuCluster& cluster, int channels) {
  LinkLimit links = gpu_link(cluster);
  links.gigabytes_per_second *= kTreeEfficiency;
  if (cluster.ranks_per_domain() == 2) return links;
  const double each = at_nodes(nccl_generation(cluster.generation).max_tree, cluster.domains());
  const double capped = channels * each;
  if (capped < links.gigabytes_per_second) {
    links = {fmt::format("{} tree channels, {:g} GB/s each", channels, each), capped};
  }
  return links;
}

AlgorithmRate tree_over(const GpuCluster& cluster, int channels) {
  AlgorithmRate rate{GpuAlgorithm::tree, 0, {}};
  if (cluster.ranks_per_domain() > 1) {
    rate.limit = chain(cluster, channels);
    rate.gigabytes_per_second = rate.limit.gigabytes_per_second / (cluster.ranks_per_domain() == 2 ? 1 : 2);
  }
  if (cluster.domains() > 1) {
    const double across = tree_rate_of_nics(cluster);
    if (rate.limit.name.empty() || across < rate.gigabytes_per_second) {
      rate.gigabytes_per_second = across;
      rate.limit = domain_nics(cluster);
    }
  }
  return rate;
}

constexpr double kTreeOverNvls = 0.91;  // published logs of 2 × 8 H100 (RoCE, EFA): 471 to 487 GB/s
constexpr int kMinGpus = 3;             // NCCL uses it from three GPUs on
// Of racks: beyond its start, an AllReduce of 72 GB200 in one domain moves 440 GB/s of the 722 of its NVLinks
// (published log); 2 × 72 gain 422, and 20 × 72 half of that.
constexpr double kRackOverBoard = 0.61 / 0.74;
// 20 × 72 GB200: from 4 to 16 GiB each further byte of busbw goes at 432 GB/s, of the 790 that two
// racks would have by this model (published log).
constexpr double kManyRacks = 0.55;

/// NVLink SHARP reaches this part of what a GPU's links carry, in and out.
LinkLimit nvls_link(const GpuCluster& cluster, double efficiency) {
  const double rate = topology::traits(cluster.generation).nvlink.gigabytes_per_second;
  return {fmt::format("NVLink SHARP at {:.0f} % of {} NVLinks per GPU, {:.1f} GB/s each", 100 * efficiency,
                      cluster.nvlinks, rate),
          efficiency * cluster.nvlinks * rate};
}

LinkLimit nics_of_exchange(const GpuCluster& cluster) {
  return with_share(nics_below_fabric(cluster),
                    exchange_share(fabric_of_domains(cluster), cluster.domains(), domain_nic_count(cluster),
                                   cluster.ranks_per_domain(), cluster.nvlinks > 0));
}

/// A GPU that sends `part` of S does so through its channels of sends, as far as their copies showed a bound.
AlgorithmRate within_copies(AlgorithmRate rate, const GpuCluster& cluster, double part) {
  const auto channels = p2p_channels(cluster);
  const NcclGeneration& generation = nccl_generation(cluster.generation);
  if (!channels || !generation.copies_bound_sends) return rate;
  const double each = generation.copy_rate;
  if (*channels * each / part >= rate.gigabytes_per_second) return rate;
  rate.gigabytes_per_second = *channels * each / part;
  rate.limit = {fmt::format("{} NCCL channels of sends, {:g} GB/s each", *channels, each), *channels * each};
  return rate;
}

/// Bounded by the root's links to its own and to other domains, each by the part of S that it carries.
AlgorithmRate rooted_rate(GpuAlgorithm algorithm, const GpuCluster& cluster, double nvlink_part,
                          const LinkLimit& nics, double nic_part) {
  AlgorithmRate rate{algorithm, 0, {}};
  const auto bound = [&](const LinkLimit& link, double part) {
    if (part <= 0) return;
    const double gigabytes_per_second = link.gigabytes_per_second / part;
    if (rate.gigabytes_per_second > 0 && rate.gigabytes_per_second <= gigabytes_per_second) return;
    rate.gigabytes_per_second = gigabytes_per_second;
    rate.limit = link;
  };
  if (cluster.ranks_per_domain() > 1) bound(gpu_link(cluster), nvlink_part);

  if (cluster.domains() > 1) bound(nics, nic_part);
  return rate;
}

double outside_part(const GpuCluster& cluster) {
  return static_cast<double>(cluster.ranks() - cluster.ranks_per_domain()) / cluster.ranks();
}

/// One NIC, as far as the channels that one peer gets fill it.
LinkLimit to_net_peer(const GpuCluster& cluster) {
  const LinkLimit nic = one_nic(cluster);
  GpuCluster equal = cluster;  // of unequal NICs the search for channels is not restated
  equal.slower_nics.clear();
  const auto channels = channels_per_net_peer(equal);
  if (!channels) return nic;
  const double each = p2p_channel_net_rate(cluster.run.nccl_version);
  std::string name =
      fmt::format("{} NCCL channel{} to a peer, {:g} GB/s each", *channels, *channels == 1 ? "" : "s", each);
  const GpuCluster later = with_later_channels(equal);
  if (cluster.run.nccl_version == 0) {
    name +=
        fmt::format("; from NCCL 2.29 on {} of {:g} GB/s (the version is not known)",
                    channels_per_net_peer(later).value_or(1), p2p_channel_net_rate(later.run.nccl_version));
  }
  return slower(nic, {name, *channels * each});
}

LinkLimit to_domain_peer(const GpuCluster& cluster) {
  LinkLimit links = gpu_link(cluster);
  const bool is_board = cluster.nvswitch && cluster.ranks_per_domain() > 2;
  const double part = nccl_generation(cluster.generation).to_one_peer;
  if (!is_board || part == 1) return links;
  links.gigabytes_per_second *= part;
  links.name += fmt::format(", {:.0f} % of it to one peer", 100 * part);
  return links;
}

// Of the NICs' line rate. Published: two clusters of B200 with 4 to 64 nodes reach 0.64 to 0.78 (0.66 and
// 0.64; 0.78 and 0.68); NVIDIA names 20 GB/s for a NIC of 25 (NVIDIA/nccl issue 320). Their middle.
constexpr double kSharpEfficiency = 0.7;
constexpr double kGatherByCollnet = 0.9;  // NCCL 2.30 src/graph/tuning.cc

}  // namespace

AlgorithmRate gpu_ring(const Operation& operation, const GpuCluster& cluster) {
  if (const PlannedNode* planned = plan_of(cluster)) {
    return by_plan(gpu_ring(operation, with_whole_nodes(cluster)), parts_of_whole_nodes(cluster).ring,
                   planned->plan.ring);
  }
  LinkLimit limit = cluster.ranks_per_domain() > 1 ? gpu_link(cluster) : domain_nics(cluster);
  if (cluster.domains() > 1) limit = slower(limit, domain_nics(cluster));
  return {GpuAlgorithm::ring, limit.gigabytes_per_second / bus_factor(operation, cluster.ranks()), limit};
}

double tree_rate_of_nics(const GpuCluster& cluster) {
  return domain_nics(cluster).gigabytes_per_second / (cluster.domains() == 2 ? 1 : 2);
}

AlgorithmRate gpu_tree(const GpuCluster& cluster) {
  const PlannedNode* planned = plan_of(cluster);
  if (planned == nullptr) return tree_over(cluster, channels(cluster));
  const GpuCluster whole = with_whole_nodes(cluster);
  const int gpus = cluster.ranks_per_node * whole.nics / planned->nics;  // where GPUs are missing, too
  return by_plan(tree_over(whole, std::min(whole.nics, gpus)), parts_of_whole_nodes(cluster).tree,
                 planned->plan.tree);
}

std::optional<AlgorithmRate> gpu_nvls(const GpuCluster& cluster) {
  if (const PlannedNode* planned = plan_of(cluster)) {
    const auto whole = gpu_nvls(with_whole_nodes(cluster));
    const double part = parts_of_whole_nodes(cluster).nvls;
    if (!whole || part == 0) return std::nullopt;
    return by_plan(*whole, part, planned->plan.nvls);
  }
  const int ranks = cluster.ranks_per_domain();
  const double of_links = nccl_generation(cluster.generation).nvls_efficiency;
  if (of_links == 0 || !cluster.nvswitch || ranks < kMinGpus) return std::nullopt;
  if (cluster.domains() == 1 ? cluster.run.no_nvls : cluster.run.no_nvls_tree) return std::nullopt;
  const double efficiency = of_links * (cluster.nvlink_rack() ? kRackOverBoard : 1);
  // Each link carries the reduced data of all GPUs and the GPU's own part: (ranks + 1) / ranks of S.
  const auto within = [&](const LinkLimit& limit) {
    return limit.gigabytes_per_second * ranks / (ranks + 1);
  };
  if (cluster.domains() == 1) {
    const LinkLimit links = nvls_link(cluster, efficiency);
    return AlgorithmRate{GpuAlgorithm::nvls, within(links), links};
  }
  const double share = cluster.nvlink_rack() && cluster.domains() > 2 ? kManyRacks : 1;
  const LinkLimit links = nvls_link(cluster, kTreeOverNvls * share * efficiency);
  const LinkLimit nics = domain_fast_nics(cluster);  // where its heads are
  const double across = nics.gigabytes_per_second / (cluster.domains() == 2 ? 1 : 2);
  if (across < within(links)) return AlgorithmRate{GpuAlgorithm::nvls_tree, across, nics};
  return AlgorithmRate{GpuAlgorithm::nvls_tree, within(links), links};
}

AlgorithmRate gpu_all_to_all(const GpuCluster& cluster) {
  const double ranks = cluster.ranks();
  const double local = cluster.ranks_per_domain();
  AlgorithmRate rate{GpuAlgorithm::pairwise, 0, {}};
  if (local > 1) {
    rate.limit = gpu_link(cluster);
    // On one domain this is V / ((n−1)/n); on several, what stays inside is less, and NVLink carries PXN.
    rate.gigabytes_per_second = rate.limit.gigabytes_per_second * ranks / (ranks - 1);
  }
  if (cluster.domains() > 1) {
    const LinkLimit nics = nics_of_exchange(cluster);
    const double across = nics.gigabytes_per_second / local * ranks / (ranks - local);
    if (rate.limit.name.empty() || across < rate.gigabytes_per_second) {
      rate.limit = nics;
      rate.gigabytes_per_second = across;
    }
  }
  return within_copies(rate, cluster, (ranks - 1) / ranks);
}

AlgorithmRate gpu_scatter(const GpuCluster& cluster) {
  // One rank in p of another domain is reached through the root's own NIC, and no NVLink; without NVLink all.
  const int others =
      cluster.nvlinks > 0 ? cluster.ranks() - cluster.domains() : cluster.ranks_per_domain() - 1;
  const double to_peers = static_cast<double>(others) / cluster.ranks();
  const AlgorithmRate rate =
      rooted_rate(GpuAlgorithm::from_root, cluster, to_peers, scatter_nics(cluster), outside_part(cluster));
  return within_copies(rate, cluster, static_cast<double>(cluster.ranks() - 1) / cluster.ranks());
}

AlgorithmRate gpu_gather(const GpuCluster& cluster) {
  const double over_nvlink = static_cast<double>(cluster.ranks_per_domain() - 1) / cluster.ranks();
  return rooted_rate(GpuAlgorithm::to_root, cluster, over_nvlink, own_nics(cluster), outside_part(cluster));
}

AlgorithmRate gpu_send_recv(const GpuCluster& cluster) {
  LinkLimit limit = cluster.ranks_per_domain() > 1 ? to_domain_peer(cluster) : one_nic(cluster);
  if (cluster.domains() > 1) limit = slower(limit, to_net_peer(cluster));
  return within_copies({GpuAlgorithm::send_recv, limit.gigabytes_per_second, limit}, cluster, 1);
}

GpuPattern gpu_pattern(OperationId id) {
  switch (id) {
    case OperationId::all_reduce:
      return GpuPattern::all_reduce;
    case OperationId::all_gather:
    case OperationId::reduce_scatter:
      return GpuPattern::ring;
    case OperationId::broadcast:
    case OperationId::reduce:
      return GpuPattern::chain;
    case OperationId::all_to_all:
    case OperationId::all_to_all_v:
      return GpuPattern::exchange;
    case OperationId::gather:
      return GpuPattern::to_root;
    case OperationId::scatter:
      return GpuPattern::from_root;
    case OperationId::send_recv:
    case OperationId::ping_pong:
      return GpuPattern::one_flow;
    case OperationId::step:  // its compute is not modeled
    case OperationId::hypercube:
      return GpuPattern::none;
  }
  return GpuPattern::none;
}

bool by_sends_and_receives(OperationId id) {
  switch (gpu_pattern(id)) {
    case GpuPattern::exchange:
    case GpuPattern::from_root:
    case GpuPattern::to_root:
    case GpuPattern::one_flow:
      return true;
    case GpuPattern::all_reduce:
    case GpuPattern::ring:
    case GpuPattern::chain:
    case GpuPattern::none:
      return false;
  }
  return false;
}

AlgorithmRate gpu_collnet(const Operation& operation, const GpuCluster& cluster, GpuAlgorithm algorithm) {
  LinkLimit nics = domain_fast_nics(cluster);
  if (gpu_pattern(operation.id) != GpuPattern::all_reduce) {
    return {algorithm, kGatherByCollnet * nics.gigabytes_per_second / bus_factor(operation, cluster.ranks()),
            nics};
  }
  nics.gigabytes_per_second *= kSharpEfficiency / traits(cluster.transport).efficiency;
  nics.name =
      fmt::format("SHARP at {} % of {} NICs per {}, {:g} GB/s each", std::lround(100 * kSharpEfficiency),
                  domain_nic_count(cluster), domain_name(cluster), cluster.nic_line_rate);
  AlgorithmRate rate{algorithm, nics.gigabytes_per_second, nics};
  const double local = cluster.ranks_per_domain();
  if (local < 2) return rate;
  const LinkLimit links = gpu_link(cluster);
  const double part = algorithm == GpuAlgorithm::collnet_direct ? 2 * (local - 1) / local : 2;
  if (links.gigabytes_per_second / part < rate.gigabytes_per_second)
    rate = {algorithm, links.gigabytes_per_second / part, links};
  return rate;
}

}  // namespace collbench::analysis
