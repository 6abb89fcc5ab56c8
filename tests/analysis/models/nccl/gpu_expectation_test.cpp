#include "analysis/models/nccl/gpu_expectation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/models/nccl/bands.hpp"
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
           CheckValue{"ndv4", 2, kAllReduce, kMiB, 110.3},
           CheckValue{"ndv4", 2, kAllReduce, kGiB, 10815.0},
           CheckValue{"ndv4", 4, kAllReduce, 64 * kMiB, 967.2},
           CheckValue{"p4de", 2, kAllReduce, 8, 162.1},
           CheckValue{"p4de", 2, kAllReduce, kGiB, 25997.8},
           CheckValue{"p5", 2, kAllReduce, 8 * kGiB, 34029.7},
           CheckValue{"oci-h100", 2, kAllReduce, kGiB, 4430.5},
           CheckValue{"a3-mega", 2, OperationId::all_gather, kGiB, 5508.2},
       }) {
    const Expectation expected =
        expect_on_gpus(check.operation, check.bytes, cluster_of(check.machine, check.nodes));
    EXPECT_NEAR(*expected.expected_seconds * 1e6 / check.microseconds, 1, 0.001)
        << check.machine << " × " << check.nodes << ", " << check.bytes;
  }
}

TEST(GpuExpectation, TheBandHoldsRingAndBestAndReachesAsFarAsItsClass) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    for (const int nodes : {1, 2, 3, 64}) {
      if (nodes > 1 && machine.nic_transport.empty()) continue;
      const GpuCluster cluster = gpu_cluster(machine, nodes, 0);
      for (const std::uint64_t bytes :
           {std::uint64_t{kKiB}, std::uint64_t{kMiB}, std::uint64_t{64 * kMiB}, std::uint64_t{kGiB}}) {
        const Expectation expected = expect_on_gpus(OperationId::all_reduce, bytes, cluster);
        const Band& edges =
            band(band_class(OperationId::all_reduce, cluster), static_cast<double>(bytes), cluster.ranks());
        // What NCCL chooses between racks, and over libfabric, may be slower than the ring would be.
        const double ring = *expected.ring_seconds;
        const double quickest = std::min(
            {ring, *expected.tree_seconds, *expected.expected_seconds, expected.nvls_seconds.value_or(ring)});
        EXPECT_NEAR(quickest / *expected.fastest_seconds, edges.high, 1e-9);
        EXPECT_NEAR(std::max(ring, *expected.expected_seconds) / *expected.slowest_seconds, edges.low, 1e-9);
        if (cluster.nvlink_rack() && cluster.domains() > 2) {
          EXPECT_EQ(expected.expected_by, "nvls_tree");
        }
        EXPECT_FALSE(expected.limited_by.empty());
      }
    }
  }
}

TEST(GpuExpectation, NoBandOfSendsAndReceivesIsAboveWhatALinkCarries) {
  const Expectation one_flow = expect_on_gpus(OperationId::send_recv, 8 * kGiB, cluster_of("hgx-h100", 2));
  EXPECT_DOUBLE_EQ(*one_flow.fastest_seconds, 8 * kGiB / 50e9) << "one port of 400 Gb/s";
  EXPECT_LT(*one_flow.fastest_seconds, *one_flow.expected_seconds);
  // 8 of 16 parts of S leave a node through its 8 NICs.
  const Expectation exchange = expect_on_gpus(OperationId::all_to_all, 8 * kGiB, cluster_of("hgx-h100", 2));
  EXPECT_DOUBLE_EQ(*exchange.fastest_seconds, 8 * kGiB * (8.0 * 8 / 16) / 400e9);
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    for (const int nodes : {2, 4, 64}) {
      if (machine.nic_transport.empty()) continue;
      const GpuCluster cluster = gpu_cluster(machine, nodes, 0);
      if (cluster.domains() == 1) continue;
      const Expectation expected = expect_on_gpus(OperationId::send_recv, 8 * kGiB, cluster);
      EXPECT_LE(8 * kGiB / *expected.fastest_seconds,
                1e9 * cluster.nic_line_rate * std::max(1, cluster.nics_per_gpu) * (1 + 1e-12))
          << machine.name << " × " << nodes;
      EXPECT_LE(*expected.fastest_seconds, *expected.slowest_seconds);
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

}  // namespace
}  // namespace collbench::analysis::gpu_expectation_test
