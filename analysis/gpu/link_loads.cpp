#include "analysis/gpu/link_loads.hpp"

#include "analysis/gpu/links.hpp"

namespace collbench {
namespace {

/// Bytes out of a domain over S.
double out_of_domain(const Operation& operation, const GpuCluster& cluster, std::string_view algorithm) {
  const double ranks = cluster.ranks();
  const double local = cluster.ranks_per_domain();
  if (algorithm == "tree" || algorithm == "nvls_tree") return cluster.domains() == 2 ? 1 : 2;
  if (algorithm == "pairwise") return local * (ranks - local) / ranks;
  if (algorithm == "send_recv") return 1;
  return bus_factor(operation, cluster.ranks());
}

/// Bytes out of a GPU to its own domain over S.
double out_of_gpu(const Operation& operation, const GpuCluster& cluster, std::string_view algorithm) {
  const double ranks = cluster.ranks();
  const double local = cluster.ranks_per_domain();
  if (algorithm == "tree") return local > 2 ? 2 : 1;
  if (algorithm == "nvls" || algorithm == "nvls_tree") return (local + 1) / local;
  if (algorithm == "pairwise") return (local - 1) / ranks;
  if (algorithm == "send_recv") return 1;
  return bus_factor(operation, cluster.ranks());
}

}  // namespace

LinkLoads link_loads(const Operation& operation, const GpuCluster& cluster, std::string_view algorithm,
                     double algbw) {
  LinkLoads loads;
  if (cluster.domains() > 1) {
    const int nics = algorithm == "send_recv" ? 1 : domain_nic_count(cluster);
    loads.nic = algbw * out_of_domain(operation, cluster, algorithm) / nics;
  }
  if (cluster.ranks_per_domain() > 1 && cluster.nvlinks > 0) {
    loads.nvlink = algbw * out_of_gpu(operation, cluster, algorithm) / cluster.nvlinks;
  }
  return loads;
}

}  // namespace collbench
