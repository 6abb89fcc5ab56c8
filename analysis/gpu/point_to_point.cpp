#include "analysis/gpu/point_to_point.hpp"

namespace collbench {

AlgorithmRate gpu_all_to_all(const GpuCluster& cluster) {
  const double ranks = cluster.ranks();
  const double local = cluster.ranks_per_domain();
  AlgorithmRate rate{"pairwise", 0, {}};
  if (local > 1) {
    rate.limit = gpu_link(cluster);
    // On one domain this is V / ((n−1)/n); on several, what stays inside is less, and NVLink carries PXN.
    rate.gigabytes_per_second = rate.limit.gigabytes_per_second * ranks / (ranks - 1);
  }
  if (cluster.domains() > 1) {
    const LinkLimit nics = domain_nics(cluster);
    const double across = nics.gigabytes_per_second / local * ranks / (ranks - local);
    if (rate.limit.name.empty() || across < rate.gigabytes_per_second) {
      rate.limit = nics;
      rate.gigabytes_per_second = across;
    }
  }
  return rate;
}

AlgorithmRate gpu_send_recv(const GpuCluster& cluster) {
  LinkLimit limit = cluster.ranks_per_domain() > 1 ? gpu_link(cluster) : one_nic(cluster);
  if (cluster.domains() > 1) limit = slower(limit, one_nic(cluster));
  return {"send_recv", limit.gigabytes_per_second, limit};
}

}  // namespace collbench
