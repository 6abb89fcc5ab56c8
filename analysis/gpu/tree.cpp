#include "analysis/gpu/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace collbench {
namespace {

// NCCL 2.30 src/graph/tuning.cc: perChMaxTree in GB/s for one, two, and more domains.
constexpr std::array<std::array<double, 3>, 4> kMostOfAChannel{
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};  // Volta to Blackwell
constexpr double kTreeEfficiency = 0.92;  // the same file: bandwidth of a tree over that of its links
constexpr int kChannelsOfOneNode = 24;    // 2 × 12 on 8 A100 (published log); more on newer ones: no bound

double most_of_a_channel(const GpuCluster& cluster) {
  const std::size_t generation = cluster.sm >= 100 ? 3 : cluster.sm >= 90 ? 2 : cluster.sm >= 80 ? 1 : 0;
  const int column = std::min(cluster.domains(), 3) - 1;
  return kMostOfAChannel.at(generation).at(static_cast<std::size_t>(column));
}

int channels(const GpuCluster& cluster) {
  if (cluster.domains() == 1) return kChannelsOfOneNode;
  return std::min(cluster.nics * cluster.nodes_per_domain, cluster.ranks_per_domain());
}

/// The chain of a domain's GPUs: S up and S down each link, in one direction only where there are two GPUs.
LinkLimit chain(const GpuCluster& cluster) {
  LinkLimit links = gpu_link(cluster);
  links.gigabytes_per_second *= kTreeEfficiency;
  if (cluster.ranks_per_domain() == 2) return links;
  const double capped = channels(cluster) * most_of_a_channel(cluster);
  if (capped < links.gigabytes_per_second) {
    links = {fmt::format("{} tree channels of {:g} GB/s", channels(cluster), most_of_a_channel(cluster)),
             capped};
  }
  return links;
}

}  // namespace

double tree_rate_of_nics(const GpuCluster& cluster) {
  return domain_nics(cluster).gigabytes_per_second / (cluster.domains() == 2 ? 1 : 2);
}

AlgorithmRate gpu_tree(const GpuCluster& cluster) {
  AlgorithmRate rate{"tree", 0, {}};
  if (cluster.ranks_per_domain() > 1) {
    rate.limit = chain(cluster);
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

}  // namespace collbench
