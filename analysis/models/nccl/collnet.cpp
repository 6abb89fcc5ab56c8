#include "analysis/models/nccl/collnet.hpp"

#include <fmt/format.h>

#include <cmath>

namespace collbench::analysis {
namespace {

// Of the NICs' line rate. Published: two clusters of B200 with 4 to 64 nodes reach 0.64 to 0.78 (0.66 and
// 0.64; 0.78 and 0.68); NVIDIA names 20 GB/s for a NIC of 25 (NVIDIA/nccl issue 320). Their middle.
constexpr double kSharpEfficiency = 0.7;
constexpr double kGatherByCollnet = 0.9;  // NCCL 2.30 src/graph/tuning.cc

}  // namespace

bool is_collnet(std::string_view algorithm) {
  return algorithm == "collnet_direct" || algorithm == "collnet_chain";
}

AlgorithmRate gpu_collnet(const Operation& operation, const GpuCluster& cluster, std::string_view algorithm) {
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
  const double part = algorithm == "collnet_direct" ? 2 * (local - 1) / local : 2;
  if (links.gigabytes_per_second / part < rate.gigabytes_per_second)
    rate = {algorithm, links.gigabytes_per_second / part, links};
  return rate;
}

}  // namespace collbench::analysis
