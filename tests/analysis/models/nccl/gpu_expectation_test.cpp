#include "analysis/models/nccl/gpu_expectation.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::gpu_expectation_test {
namespace {

struct CheckValue {
  const char* machine;
  int nodes;
  OperationId operation;
  std::uint64_t bytes;
  double microseconds;
};

// By hand from the formulas of docs/model.md: floor + ramp + S / plateau.
TEST(GpuExpectation, CheckValues) {
  constexpr OperationId kAllReduce = OperationId::all_reduce;
  for (const CheckValue& check : {
           CheckValue{"ndv4", 2, kAllReduce, kMiB, 110.5},
           CheckValue{"ndv4", 2, kAllReduce, kGiB, 10833.5},
           CheckValue{"ndv4", 4, kAllReduce, 64 * kMiB, 915.5},
           CheckValue{"p4de", 2, kAllReduce, 8, 162.4},
           CheckValue{"p4de", 2, kAllReduce, kGiB, 25938.6},
           CheckValue{"p5", 2, kAllReduce, 8 * kGiB, 34048.2},
           CheckValue{"oci-h100", 2, kAllReduce, kGiB, 4449.0},
           CheckValue{"a3-mega", 2, OperationId::all_gather, kGiB, 5628.2},
       }) {
    const Expectation expected =
        expect_on_gpus(check.operation, check.bytes, cluster_of(check.machine, check.nodes));
    EXPECT_NEAR(*expected.expected_seconds * 1e6 / check.microseconds, 1, 0.001)
        << check.machine << " × " << check.nodes << ", " << check.bytes;
  }
}

TEST(GpuExpectation, TheBandHoldsRingAndBestAndItsEdgesAreWithinTwentyPercent) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    for (const int nodes : {1, 2, 3, 64}) {
      if (nodes > 1 && machine.nic_transport.empty()) continue;
      const GpuCluster cluster = gpu_cluster(machine, nodes, 0);
      const Expectation expected = expect_on_gpus(OperationId::all_reduce, kGiB, cluster);
      EXPECT_LT(*expected.fastest_seconds, *expected.expected_seconds);
      EXPECT_LE(*expected.expected_seconds, *expected.ring_seconds);
      EXPECT_GT(*expected.slowest_seconds, *expected.ring_seconds);
      EXPECT_LE(*expected.expected_seconds / *expected.fastest_seconds, 1.2001);
      EXPECT_LE(*expected.slowest_seconds / *expected.ring_seconds, 1.2501);
      EXPECT_FALSE(expected.limited_by.empty());
    }
  }
}

TEST(GpuExpectation, TheAlgorithmInTheLogNarrowsTheBand) {
  GpuCluster cluster = cluster_of("p4de", 2);
  EXPECT_EQ(expect_on_gpus(OperationId::all_reduce, kGiB, cluster).expected_by, "tree");
  cluster.run.algorithm = "ring";
  const Expectation expected = expect_on_gpus(OperationId::all_reduce, kGiB, cluster);
  EXPECT_EQ(expected.expected_by, "ring");
  EXPECT_EQ(expected.expected_seconds, expected.ring_seconds);
  EXPECT_TRUE(expected.tree_seconds);
}

TEST(GpuExpectation, NothingIsExpectedOfOneRankOrOfNoBytes) {
  EXPECT_EQ(expect_on_gpus(OperationId::all_reduce, kGiB, cluster_of("hgx-h100", 1, 1)), Expectation());
  EXPECT_EQ(expect_on_gpus(OperationId::all_reduce, 0, cluster_of("hgx-h100", 1)), Expectation());
  EXPECT_EQ(expect_on_gpus(OperationId::hypercube, kGiB, cluster_of("hgx-h100", 1)), Expectation());
}

TEST(GpuExpectation, OnlyAllReduceHasATree) {
  EXPECT_FALSE(expect_on_gpus(OperationId::all_gather, kGiB, cluster_of("hgx-h100", 2)).tree_seconds);
  EXPECT_FALSE(expect_on_gpus(OperationId::all_to_all, kGiB, cluster_of("hgx-h100", 2)).ring_seconds);
}

TEST(GpuExpectation, TheBandWidensBeyondOneLeafAndOnUnknownTransports) {
  EXPECT_DOUBLE_EQ(band_uncertainty(cluster_of("hgx-h100", 32), 1e9), 0.15);
  EXPECT_DOUBLE_EQ(band_uncertainty(cluster_of("hgx-h100", 33), 1e9), 0.20);
  GpuCluster cluster = cluster_of("hgx-h100", 2);
  cluster.transport = Transport::plugin;
  EXPECT_DOUBLE_EQ(band_uncertainty(cluster, 1e9), 0.20);
  EXPECT_DOUBLE_EQ(band_uncertainty(cluster_of("a100-pcie", 1), 1e9), 0.20);
}

}  // namespace
}  // namespace collbench::analysis::gpu_expectation_test
