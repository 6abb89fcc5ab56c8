#include "analysis/gpu/ring.hpp"

namespace collbench {

AlgorithmRate gpu_ring(const Operation& operation, const GpuCluster& cluster) {
  LinkLimit limit = cluster.ranks_per_domain() > 1 ? gpu_link(cluster) : domain_nics(cluster);
  if (cluster.domains() > 1) limit = slower(limit, domain_nics(cluster));
  return {"ring", limit.gigabytes_per_second / bus_factor(operation, cluster.ranks()), limit};
}

}  // namespace collbench
