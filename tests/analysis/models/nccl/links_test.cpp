#include "analysis/models/nccl/links.hpp"

#include <gtest/gtest.h>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::links_test {
namespace {

TEST(GpuLinks, AreTheRatesThatPublishedLogsReach) {
  EXPECT_NEAR(gpu_link(cluster_of("dgx-1v", 1)).gigabytes_per_second, 134.4, 1e-9);     // 6 × 22.4
  EXPECT_NEAR(gpu_link(cluster_of("hgx-a100", 1)).gigabytes_per_second, 235.2, 1e-9);   // 12 × 19.6
  EXPECT_NEAR(gpu_link(cluster_of("hgx-h100", 1)).gigabytes_per_second, 363.6, 1e-9);   // 18 × 20.2
  EXPECT_NEAR(domain_nics(cluster_of("hgx-a100", 2)).gigabytes_per_second, 190, 1e-9);  // 8 × 25 × 0.95
  EXPECT_NEAR(domain_nics(cluster_of("p4de", 2)).gigabytes_per_second, 42, 1e-9);       // 4 × 12.5 × 0.84
}

TEST(GpuLinks, ANicGivesNoMoreThanItsPcieLink) {
  GpuCluster cluster = cluster_of("hgx-h100", 2);
  cluster.nic_path = 24;
  EXPECT_DOUBLE_EQ(domain_nics(cluster).gigabytes_per_second, 8 * 24);
  EXPECT_EQ(domain_nics(cluster).name, "the PCIe links of 8 NICs, 24.0 GB/s each");
  cluster.nic_path = 0;  // not known
  EXPECT_DOUBLE_EQ(domain_nics(cluster).gigabytes_per_second, 8 * 47.5);
}

TEST(GpuLinks, TheSmallestDomainCounts) {
  const GpuCluster ragged = cluster_of("gb200-nvl72", 19);  // 18 trays and one
  EXPECT_DOUBLE_EQ(domain_nics(ragged).gigabytes_per_second, 4 * one_nic(ragged).gigabytes_per_second);
  EXPECT_EQ(domain_nic_count(ragged), 4);
  GpuCluster part = cluster_of("oci-h100", 2, 2);
  EXPECT_EQ(domain_nics(part).name, "4 NICs per node, 25 GB/s each at 93 % of line rate");
  part.gpu_path = 24;
  EXPECT_EQ(domain_nics(part).name, "the PCIe links of 2 GPUs, 24.0 GB/s each");
  EXPECT_DOUBLE_EQ(domain_nics(part).gigabytes_per_second, 48);
  EXPECT_EQ(domain_nics(cluster_of("gb200-nvl72", 36)).name,
            "72 NICs per domain, 50 GB/s each at 95 % of line rate");
}

/// At its plateau an algorithm loads its limiting link fully, and no link more than fully.
TEST(LinkLoads, AtThePlateauNoLinkCarriesMoreThanItCan) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    for (const int nodes : {1, 2, 3, 64}) {
      if (nodes > 1 && machine.nic_transport.empty()) continue;
      const GpuCluster cluster = gpu_cluster(machine, nodes, 0);
      for (const OperationId id : {OperationId::all_reduce, OperationId::all_gather, OperationId::all_to_all,
                                   OperationId::send_recv}) {
        for (const AlgorithmRate& rate : gpu_algorithms(id, cluster)) {
          const LinkLoads loads =
              link_loads(operation(id), cluster, rate.algorithm, rate.gigabytes_per_second);
          if (loads.nic) {
            EXPECT_LE(*loads.nic, one_nic(cluster).gigabytes_per_second * 1.0001)
                << machine.name << " × " << nodes << " " << name(rate.algorithm);
          }
          if (loads.nvlink) {
            EXPECT_LE(*loads.nvlink * cluster.nvlinks, gpu_link(cluster).gigabytes_per_second * 1.0001)
                << machine.name << " × " << nodes << " " << name(rate.algorithm);
          }
        }
      }
    }
  }
}

TEST(LinkLoads, OnTwoNodesATreeCarriesLessThanBusbwSays) {
  const LinkLoads loads = link_loads(operation(OperationId::all_reduce), cluster_of("p4de", 2),
                                     GpuAlgorithm::tree, 42);  // busbw 78.8
  EXPECT_NEAR(*loads.nic, 10.5, 1e-9);
  EXPECT_NEAR(*loads.nvlink, 7, 1e-9);
}

TEST(JoinDomains, OneDomainHasNoUseForAFabric) {
  const Fabric fabric = parse_fabric("fat-tree,leaf=4", "--fabric");
  GpuCluster many = cluster_of("hgx-h100", 2);
  join_domains(many, fabric, "--fabric");
  EXPECT_EQ(many.fabric, fabric);
  GpuCluster one = cluster_of("hgx-h100", 1);
  EXPECT_THROW(join_domains(one, fabric, "--fabric"), Error);
  EXPECT_NO_THROW(join_domains(one, {}, "--fabric"));
}

TEST(LinkLoads, AreNoneWithoutSuchLinks) {
  const Operation& all_reduce = operation(OperationId::all_reduce);
  EXPECT_EQ(link_loads(all_reduce, cluster_of("a100-pcie", 1), GpuAlgorithm::ring, 9), LinkLoads());
  EXPECT_FALSE(link_loads(all_reduce, cluster_of("hgx-h100", 1), GpuAlgorithm::nvls, 270).nic);
  EXPECT_FALSE(link_loads(all_reduce, cluster_of("hgx-h100", 2, 1), GpuAlgorithm::ring, 48).nvlink);
}

}  // namespace

}  // namespace collbench::analysis::links_test
