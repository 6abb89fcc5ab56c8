#include "topology/graph/path.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/topology/fixture.hpp"
#include "tests/topology/two_ports_at_one_address.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::path_test {
namespace {

constexpr Device gpu(int i) { return {DeviceKind::gpu, i}; }
constexpr Device nic(int i) { return {DeviceKind::nic, i}; }

/// The hop with the least rate; one whose rate is not known is the least.
const PathHop& slowest_hop(const Path& path) {
  return *std::min_element(path.hops.begin(), path.hops.end(), [](const PathHop& x, const PathHop& y) {
    return x.gigabytes_per_second.value_or(0) < y.gigabytes_per_second.value_or(0);
  });
}

Host dump() { return read_nccl_topology_xml(fixture("nccl_topology.xml"), "D.xml"); }

TEST(Path, NamesTheTypeAndItsLinks) {
  const Host host = dump();
  const auto near = path_between(host, gpu(0), nic(0));
  EXPECT_EQ(PathType::pxb, near->type);
  EXPECT_TRUE(near->complete);
  // PCIe Gen5 x16 counts 48 GB/s in NCCL's table.
  EXPECT_EQ(48, slowest_hop(*near).gigabytes_per_second);
  const auto far = path_between(host, gpu(0), nic(2));
  EXPECT_EQ(PathType::sys, far->type);
  EXPECT_EQ("between the sockets", slowest_hop(*far).link);  // Sapphire Rapids: 22 GB/s
  EXPECT_EQ(22, slowest_hop(*far).gigabytes_per_second);
  EXPECT_EQ("PCIe of 0000:c1:00.0, 16 GT/s x16", far->hops.back().link);
}

TEST(Path, NvlinkIsCountedAndRated) {
  const auto path = path_between(dump(), gpu(0), gpu(1));
  EXPECT_EQ(PathType::nvl, path->type);
  EXPECT_EQ(18, path->nvlinks);
  EXPECT_NEAR(370.8, *slowest_hop(*path).gigabytes_per_second, 1e-9);  // 18 × 20.6
}

TEST(Path, ADeviceIsLocalToItself) { EXPECT_EQ(PathType::loc, path_between(dump(), gpu(0), gpu(0))->type); }

TEST(Path, ANarrowLinkLimits) {
  Host host = dump();
  for (PciDevice& device : host.pci_devices) {
    if (device.address == "0000:19:00.0") device.link_now.width.value = 4;
  }
  const auto path = path_between(host, gpu(0), nic(0));
  EXPECT_EQ("PCIe of 0000:19:00.0, 32 GT/s x4", slowest_hop(*path).link);
  EXPECT_EQ(12, slowest_hop(*path).gigabytes_per_second);
}

TEST(Path, WithoutATreeTheTypeIsWhatIsStatedAndTheRateIsNotKnown) {
  const Host host = read_nvidia_smi_topo(fixture("topo_m.txt"), "T.txt");
  const auto path = path_between(host, gpu(1), nic(2));
  EXPECT_EQ(PathType::node, path->type);
  EXPECT_TRUE(path->hops.empty());
}

TEST(Path, C2cJoinsAGpuToItsCpu) {
  Host host = dump();
  host.gpus[1].c2c_links.value = 10;
  host.gpus[1].c2c_gigabytes_per_second.value = 450;
  EXPECT_EQ(PathType::c2c, path_between(host, gpu(1), {DeviceKind::numa_node, 1})->type);
}

TEST(Path, NicsAreOrderedByNearness) {
  EXPECT_THAT(nics_by_nearness(dump(), gpu(1)), testing::ElementsAre(nic(1), nic(2), nic(3), nic(0)));
}

TEST(Path, SwitchesAreSeenByMoreLinksThanAGpuHas) {
  EXPECT_FALSE(has_nvswitch(dump()));
  const std::string text =
      "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV12\tNV12\nGPU1\tNV12\t X \tNV12\nGPU2\tNV12\tNV12\t X \n";
  const Host host = read_nvidia_smi_topo(text, "T.txt");
  EXPECT_TRUE(has_nvswitch(host));  // 24 links a GPU were never built
  EXPECT_EQ(12, nvlinks_of(host, gpu(0)));
}

TEST(Path, EquallyNearNicsComeInOneOrderHoweverListed) {
  const auto names = [](const Host& host) {
    std::vector<std::string> found;
    for (const Device& nic : nics_by_nearness(host, {DeviceKind::gpu, 0}))
      found.push_back(*host.nics[static_cast<std::size_t>(nic.index)].name.value);
    return found;
  };
  EXPECT_EQ(names(two_ports_at_one_address()), (std::vector<std::string>{"mlx5_0", "mlx5_1"}));
  EXPECT_EQ(names(two_ports_at_one_address(true)), (std::vector<std::string>{"mlx5_0", "mlx5_1"}));
}

}  // namespace
}  // namespace collbench::topology::path_test
