#include "analysis/gpu/nvls.hpp"

#include "analysis/gpu/tree.hpp"
#include "topology/link_catalogue.hpp"

namespace collbench {
namespace {

constexpr double kHopperEfficiency = 0.85;     // NCCL 2.30 tuning.cc, nvlsEfficiency
constexpr double kBlackwellEfficiency = 0.74;  // the same
constexpr double kTreeOverNvls = 0.91;         // published logs of 2 × 8 H100 (RoCE, EFA): 471 to 487 GB/s
constexpr int kFewestGpus = 3;                 // NCCL uses it from three GPUs on

}  // namespace

std::optional<AlgorithmRate> gpu_nvls(const GpuCluster& cluster) {
  const int ranks = cluster.ranks_per_domain();
  if (cluster.sm < 90 || !cluster.nvswitch || ranks < kFewestGpus) return std::nullopt;
  const double efficiency = cluster.sm >= 100 ? kBlackwellEfficiency : kHopperEfficiency;
  const double within =
      cluster.nvlinks * nvlink_rate(cluster.sm).gigabytes_per_second * efficiency * ranks / (ranks + 1);
  if (cluster.domains() == 1) return AlgorithmRate{"nvls", within, gpu_link(cluster)};
  const double across = tree_rate_of_nics(cluster);
  if (across < kTreeOverNvls * within) return AlgorithmRate{"nvls_tree", across, domain_nics(cluster)};
  return AlgorithmRate{"nvls_tree", kTreeOverNvls * within, gpu_link(cluster)};
}

}  // namespace collbench
