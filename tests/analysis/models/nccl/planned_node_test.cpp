#include "analysis/models/nccl/planned_node.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "analysis/models/nccl/algorithms.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/analysis/models/nccl/nccl_plans.hpp"

namespace collbench::analysis::planned_node_test {
namespace {

topology::Host machine(std::string_view name, const std::string& fault = "none") {
  return with_fault(topology::reference_host(*topology::find_reference_machine(name)), fault);
}

std::vector<int> all_nics(const topology::Host& host) {
  std::vector<int> nics(host.nics.size());
  std::iota(nics.begin(), nics.end(), 0);
  return nics;
}

double ring_busbw(const topology::Host& host) {
  const GpuCluster cluster = gpu_cluster(host, 2, 0, "host");
  const Operation& operation = collbench::operation(OperationId::all_reduce);
  return gpu_ring(operation, cluster).gigabytes_per_second * bus_factor(operation, cluster.ranks());
}

TEST(PlannedNode, LeavesTheRatesOfEveryWholeMachineAsTheyAre) {
  for (const topology::ReferenceMachine& each : topology::reference_machines()) {
    if (topology::reference_host(each).nics.empty()) continue;
    const GpuCluster cluster = gpu_cluster(each, 2, 0);
    EXPECT_EQ(parts_of_whole_nodes(cluster), (PlanRates{1, 1, 1})) << each.name;
    GpuCluster without = cluster;
    without.planned.reset();
    const Operation& operation = collbench::operation(OperationId::all_reduce);
    EXPECT_EQ(gpu_ring(operation, cluster), gpu_ring(operation, without)) << each.name;
    EXPECT_EQ(gpu_tree(cluster), gpu_tree(without)) << each.name;
    EXPECT_EQ(gpu_nvls(cluster), gpu_nvls(without)) << each.name;
  }
}

TEST(PlannedNode, WithEqualLinksAMachineIsAsItWas) {
  for (const char* name : {"hgx-h100", "hgx-a100", "p4de"}) {
    const topology::Host healthy = as_nccl_reads_links(machine(name));
    for (const char* fault : {"nic 2 rate 50", "nic 1 width 4", "gpu 3 width 8", "gpu 5 links 7"}) {
      const topology::Host faulty = as_nccl_reads_links(machine(name, fault));
      EXPECT_NE(faulty, healthy) << name << " " << fault;
      const topology::Host equal = with_equal_links(faulty, all_nics(faulty));
      const auto repaired = planned_node(equal, equal, all_nics(equal), 2, {});
      EXPECT_EQ(repaired, planned_node(healthy, healthy, all_nics(healthy), 2, {})) << name << " " << fault;
    }
  }
}

TEST(PlannedNode, AChannelThatIsGoneMakesNoOtherFaster) {
  const double whole = ring_busbw(machine("hgx-h100"));
  EXPECT_NEAR(whole, 363.6, 1e-9);  // NVLink, not the 380 of the NICs
  EXPECT_NEAR(ring_busbw(machine("hgx-h100", "nic 2 gone")), whole * 7 / 8, 1e-9);
  EXPECT_NEAR(ring_busbw(machine("hgx-h100", "nic 2 at SYS")), whole * 7 / 8, 1e-9);
  EXPECT_NEAR(ring_busbw(machine("hgx-h100", "pair 2 3")), whole * 6 / 8, 1e-9);
  EXPECT_NEAR(ring_busbw(machine("hgx-h100", "gpu 3 links 14")), whole * 7 / 8, 1e-9);  // 7 × 48
  EXPECT_NEAR(ring_busbw(machine("p4de", "nic 1 down")), ring_busbw(machine("p4de")) * 3 / 4, 1e-9);
}

TEST(PlannedNode, NcclReadsWhatTheLinkOfANicCouldBeAndWhatThatOfAGpuIs) {
  topology::Host host = machine("hgx-h100");
  pci_of(host, {topology::DeviceKind::nic, 1}).link_now.width.value = 8;
  pci_of(host, {topology::DeviceKind::gpu, 1}).link_now.width.value = 8;
  topology::Host read = as_nccl_reads_links(host);
  EXPECT_FALSE(pci_of(read, {topology::DeviceKind::nic, 1}).link_now.width.known());
  EXPECT_EQ(pci_of(read, {topology::DeviceKind::gpu, 1}).link_now.width.value, 8);
}

}  // namespace
}  // namespace collbench::analysis::planned_node_test
