#include "topology/render/render.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "topology/graph/merge.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::tree_test {
namespace {

using testing::HasSubstr;

TEST(ShowTree, LeavesOutBridgesWithOneThingBelow) {
  EXPECT_EQ(show_tree(read_hwloc_xml(fixture("hwloc2.xml"), "hwloc2.xml")),
            "├─ NUMA 0  CPUs 0-31  252 GiB  Intel(R) Xeon(R) Platinum 8462Y+\n"
            "│  └─ PCIe 0000:16:00.0  63 GB/s\n"
            "│     ├─ GPU0  NVIDIA H100 80GB HBM3  0000:18:00.0  63 GB/s\n"
            "│     └─ mlx5_0 (ib0)  0000:19:00.0  63 GB/s ACTIVE\n"
            "└─ NUMA 1  CPUs 32-63  252 GiB  Intel(R) Xeon(R) Platinum 8462Y+\n"
            "   ├─ PCIe 0000:98:00.0  63 GB/s\n"
            "   │  ├─ GPU1  NVIDIA H100 80GB HBM3  0000:9a:00.0  63 GB/s\n"
            "   │  └─ mlx5_1 (ib1)  0000:9b:00.0  63 GB/s ACTIVE\n"
            "   └─ PCIe 0000:c0:01.0  31.5 GB/s\n"
            "      ├─ mlx5_2  0000:c1:00.0  31.5 GB/s ACTIVE\n"
            "      └─ mlx5_3  0000:c1:00.1  31.5 GB/s DOWN\n");
}

TEST(ShowTree, PutsDevicesOfAMatrixByTheirAffinity) {
  EXPECT_THAT(
      show_tree(read_nvidia_smi_topo(fixture("topo_m.txt"), "topo_m.txt")),
      HasSubstr("├─ NUMA 0\n│  └─ GPU0\n├─ NUMA 1\n│  └─ GPU1\n└─ NUMA node unknown\n   ├─ mlx5_0\n"));
}

TEST(ShowTree, MarksLinksThatCarryLessThanTheyCould) {
  Host narrow = read_nccl_topology_xml(fixture("nccl_topology.xml"), "D.xml");
  narrow.pci_devices.at(2).link_now.width.value = 4;
  const std::string text =
      show_tree(merge_hosts({narrow, read_nvidia_smi_nvlink(fixture("nvlink_s.txt"), "N.txt")}));
  EXPECT_THAT(text, HasSubstr("Gen5 x4 of x16"));
  EXPECT_THAT(text, HasSubstr("1 NVLink inactive"));
}

}  // namespace
}  // namespace collbench::topology::tree_test
