#include "analysis/gpu/link_loads.hpp"

#include <gtest/gtest.h>

#include "analysis/gpu/expectation.hpp"
#include "tests/analysis/gpu/clusters.hpp"

namespace collbench::link_loads_test {
namespace {

/// At its plateau an algorithm loads its limiting link fully, and no link more than fully.
TEST(LinkLoads, AtThePlateauNoLinkCarriesMoreThanItCan) {
  for (const ReferenceMachine& machine : reference_machines()) {
    for (const int nodes : {1, 2, 3, 64}) {
      if (nodes > 1 && machine.nic_transport.empty()) continue;
      const GpuCluster cluster = gpu_cluster(machine, nodes, 0);
      for (const OperationId id : {OperationId::all_reduce, OperationId::all_gather, OperationId::all_to_all,
                                   OperationId::send_recv}) {
        for (const AlgorithmRate& rate : gpu_algorithms(id, cluster)) {
          const LinkLoads loads = link_loads(operation(id), cluster, rate.name, rate.gigabytes_per_second);
          if (loads.nic) {
            EXPECT_LE(*loads.nic, one_nic(cluster).gigabytes_per_second * 1.0001)
                << machine.name << " × " << nodes << " " << rate.name;
          }
          if (loads.nvlink) {
            EXPECT_LE(*loads.nvlink * cluster.nvlinks, gpu_link(cluster).gigabytes_per_second * 1.0001)
                << machine.name << " × " << nodes << " " << rate.name;
          }
        }
      }
    }
  }
}

TEST(LinkLoads, OnTwoNodesATreeCarriesLessThanBusbwSays) {
  const LinkLoads loads =
      link_loads(operation(OperationId::all_reduce), cluster_of("p4de", 2), "tree", 42);  // busbw 78.8
  EXPECT_NEAR(*loads.nic, 10.5, 1e-9);
  EXPECT_NEAR(*loads.nvlink, 7, 1e-9);
}

TEST(LinkLoads, AreNoneWithoutSuchLinks) {
  const Operation& all_reduce = operation(OperationId::all_reduce);
  EXPECT_EQ(link_loads(all_reduce, cluster_of("a100-pcie", 1), "ring", 9), LinkLoads());
  EXPECT_FALSE(link_loads(all_reduce, cluster_of("hgx-h100", 1), "nvls", 270).nic);
  EXPECT_FALSE(link_loads(all_reduce, cluster_of("hgx-h100", 2, 1), "ring", 48).nvlink);
}

}  // namespace
}  // namespace collbench::link_loads_test
