#include "analysis/models/nccl/algorithms.hpp"

#include <gtest/gtest.h>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::collnet_test {
namespace {

GpuCluster with_sharp(const char* machine, int nodes) {
  GpuCluster cluster = cluster_of(machine, nodes);
  cluster.fabric.sharp = true;
  return cluster;
}

TEST(Collnet, TheSlowerOfNicsAndNvlinkHoldsIt) {
  const Operation& all_reduce = operation(OperationId::all_reduce);
  const AlgorithmRate blackwell =
      gpu_collnet(all_reduce, with_sharp("hgx-b200", 8), GpuAlgorithm::collnet_direct);
  EXPECT_DOUBLE_EQ(blackwell.gigabytes_per_second, 0.7 * 8 * 50);
  const GpuCluster hopper = with_sharp("hgx-h100", 8);
  EXPECT_DOUBLE_EQ(gpu_collnet(all_reduce, hopper, GpuAlgorithm::collnet_direct).gigabytes_per_second,
                   gpu_link(hopper).gigabytes_per_second / (2 * 7.0 / 8));
  EXPECT_DOUBLE_EQ(gpu_collnet(all_reduce, hopper, GpuAlgorithm::collnet_chain).gigabytes_per_second,
                   gpu_link(hopper).gigabytes_per_second / 2);
}

TEST(Collnet, ItRunsWithSharpAndAllGatherStaysWithTheRing) {
  const auto names = [](OperationId id, const GpuCluster& cluster) {
    std::vector<std::string> found;
    for (const AlgorithmRate& rate : gpu_algorithms(id, cluster)) found.emplace_back(name(rate.algorithm));
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(OperationId::all_reduce, with_sharp("hgx-b200", 4)),
            (Names{"ring", "tree", "nvls_tree", "collnet_direct", "collnet_chain"}));
  EXPECT_EQ(names(OperationId::all_reduce, cluster_of("hgx-b200", 4)), (Names{"ring", "tree", "nvls_tree"}));
  EXPECT_EQ(names(OperationId::all_reduce, with_sharp("hgx-b200", 1)), (Names{"ring", "tree", "nvls"}));
  EXPECT_EQ(names(OperationId::all_gather, with_sharp("hgx-b200", 4)), (Names{"ring"}));
  GpuCluster asked = with_sharp("hgx-b200", 4);
  asked.run.algorithm = "collnet_direct";
  EXPECT_EQ(names(OperationId::all_gather, asked), (Names{"collnet_direct"}));
  EXPECT_EQ(expect_on_gpus(OperationId::all_reduce, std::uint64_t{1} << 34, asked).expected_by,
            "collnet_direct");
}

}  // namespace
}  // namespace collbench::analysis::collnet_test
