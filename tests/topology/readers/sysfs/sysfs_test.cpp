// The readers of sysfs, over a small tree that is laid out like /sys.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "tests/topology/fixture.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/merge.hpp"
#include "topology/graph/path.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::sysfs_test {
namespace {

namespace fs = std::filesystem;

class Sysfs : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    // One bridge with a GPU below it and one with a NIC of two functions, the second without a cable.
    device("0000:15:01.0", "pci0000:15/0000:15:01.0", "0x060400", "0x8086");
    device("0000:18:00.0", "pci0000:15/0000:15:01.0/0000:18:00.0", "0x030200", "0x10de");
    device("0000:97:01.0", "pci0000:97/0000:97:01.0", "0x060400", "0x8086");
    device("0000:9b:00.0", "pci0000:97/0000:97:01.0/0000:9b:00.0", "0x020700", "0x15b3");
    device("0000:00:02.0", "pci0000:00/0000:00:02.0", "0x030000", "0x1a03");  // the console
    write("devices/pci0000:15/0000:15:01.0/max_link_width", "8");
    write("devices/pci0000:15/0000:15:01.0/numa_node", "0");
    write("devices/pci0000:97/0000:97:01.0/numa_node", "-1");
    const std::string nic = "devices/pci0000:97/0000:97:01.0/0000:9b:00.0/";
    write(nic + "numa_node", "1");
    const std::string ib = nic + "infiniband/mlx5_0/";
    write(ib + "node_guid", "946d:ae03:006d:aa30");
    write(ib + "sys_image_guid", "946d:ae03:006d:aa30");
    write(ib + "fw_ver", "28.41.1000");
    write(ib + "ports/1/rate", "400 Gb/sec (4X NDR)");
    write(ib + "ports/1/state", "4: ACTIVE");
    write(ib + "ports/1/phys_state", "5: LinkUp");
    write(ib + "ports/1/link_layer", "InfiniBand");
    link(ib + "device", "../..");
    link("class/infiniband/mlx5_0", "../../" + ib);
    write(nic + "net/ib0/type", "32");
    write(nic + "net/ib0/operstate", "down");
    link(nic + "net/ib0/device", "../..");
    link("class/net/ib0", "../../" + nic + "net/ib0");
    write("class/net/lo/type", "772");
    write("module/nvidia/version", "550");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  void link(const std::string& from, const std::string& to) {
    fs::create_directories((root_ / from).parent_path());
    fs::create_symlink(to, root_ / from);
  }
  void device(const std::string& address, const std::string& at, const char* class_code, const char* vendor) {
    write("devices/" + at + "/class", class_code);
    write("devices/" + at + "/vendor", vendor);
    write("devices/" + at + "/max_link_speed", "32.0 GT/s PCIe");
    write("devices/" + at + "/max_link_width", "16");
    write("devices/" + at + "/current_link_speed", "2.5 GT/s PCIe");
    write("devices/" + at + "/current_link_width", "8");
    link("bus/pci/devices/" + address, "../../../devices/" + at);
  }

  fs::path root_ = fs::path(testing::TempDir()) / ("collbench_sysfs_test_" + std::to_string(getpid()));
};

TEST_F(Sysfs, PciHasTheDevicesAndTheBridgesAboveThem) {
  const Host host = read_sysfs_pci(root_);
  EXPECT_EQ(4U, host.pci_devices.size());  // neither the console nor a bridge above nothing
  ASSERT_EQ(1U, host.gpus.size());
  ASSERT_EQ(1U, host.nics.size());
  const PciDevice* gpu = find_pci_device(host, "0000:18:00.0");
  EXPECT_EQ("0000:15:01.0", gpu->parent);
  EXPECT_EQ(8, gpu->link_max.width.value);  // the port above it has 8 lanes
  EXPECT_EQ(2.5, gpu->link_now.gigatransfers_per_second.value);
  EXPECT_EQ("0000:15", find_pci_device(host, "0000:15:01.0")->host_bridge.value);
  EXPECT_EQ(0, numa_node_of(host, {DeviceKind::gpu, 0}));
  EXPECT_EQ("none", host.peer_memory.value);
}

TEST_F(Sysfs, AcsOfABridgeIsReadWhereTheKernelShowsIt) {
  const std::string bridges[] = {"devices/pci0000:15/0000:15:01.0/config",
                                 "devices/pci0000:97/0000:97:01.0/config"};
  std::string config(4096, '\0');
  config.replace(0x100, 4, std::string("\x0D\x00\x01\x00", 4));  // ACS, version 1, the last capability
  config[0x106] = '\x1D';  // SrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+
  const auto write_config = [&](std::size_t bytes) {
    for (const std::string& bridge : bridges)
      std::ofstream(root_ / bridge, std::ios::binary) << config.substr(0, bytes);
  };
  write_config(4096);
  EXPECT_EQ(find_pci_device(read_sysfs_pci(root_), "0000:15:01.0")->acs.value, true);
  config[0x106] = '\0';
  write_config(4096);
  EXPECT_EQ(find_pci_device(read_sysfs_pci(root_), "0000:97:01.0")->acs.value, false);
  EXPECT_THAT(read_sysfs_pci(root_).notes, testing::IsEmpty());
  write_config(64);
  const Host not_root = read_sysfs_pci(root_);
  EXPECT_FALSE(find_pci_device(not_root, "0000:15:01.0")->acs.known());
  EXPECT_THAT(
      texts(not_root.notes),
      testing::ElementsAre(testing::HasSubstr("ACS of 2 PCI bridges is unknown: reading it needs root")));
}

TEST_F(Sysfs, InfinibandHasPortsAndGuids) {
  const Host host = read_sysfs_infiniband(root_);
  ASSERT_EQ(1U, host.nics.size());
  const Nic& nic = host.nics[0];
  EXPECT_EQ("0000:9b:00.0", nic.pci_address.value);
  EXPECT_EQ("0x946dae03006daa30", nic.guid.value);
  EXPECT_EQ("ib0", nic.interfaces.value);
  EXPECT_EQ(1, nic.numa_node.value);
  EXPECT_EQ(400, nic.ports.at(0).gigabits_per_second.value);
  EXPECT_EQ("ACTIVE", nic.ports[0].state.value);
  EXPECT_EQ("LinkUp", nic.ports[0].physical_state.value);
}

TEST_F(Sysfs, NetSaysNothingOfAnInfinibandPort) {
  const Host host = read_sysfs_net(root_);
  ASSERT_EQ(1U, host.nics.size());  // lo has no hardware
  EXPECT_EQ("ib0", host.nics[0].interfaces.value);
  EXPECT_EQ("InfiniBand", host.nics[0].ports.at(0).link_layer.value);
  EXPECT_FALSE(host.nics[0].ports[0].state.known());  // IPoIB is down, the port is not
}

TEST_F(Sysfs, TheThreeMergeIntoOneNic) {
  const Host host = merge_hosts({read_sysfs_pci(root_), read_sysfs_infiniband(root_), read_sysfs_net(root_)});
  ASSERT_EQ(1U, host.nics.size());
  EXPECT_EQ("mlx5_0", host.nics[0].name.value);
  EXPECT_TRUE(host.disagreements.empty());
  EXPECT_EQ(PathType::sys, path_between(host, {DeviceKind::gpu, 0}, {DeviceKind::nic, 0})->type);
}

TEST_F(Sysfs, NamesThatAreNoTextAreNoDevices) {
  write("class/infiniband/mlx\xFF/node_guid", "946d:ae03:006d:aa30");
  link("devices/pci0000:97/0000:97:01.0/0000:9b:00.0/driver", "../mlx5\xFF_core");
  EXPECT_EQ(1U, read_sysfs_infiniband(root_).nics.size());
  EXPECT_EQ("mlx5_core", read_sysfs_pci(root_).nics.at(0).driver.value);
}

TEST_F(Sysfs, WhatIsHiddenIsSaid) {
  fs::remove_all(root_ / "class");
  fs::remove_all(root_ / "bus");
  EXPECT_THAT(read_sysfs_pci(root_).notes.at(0).text, testing::HasSubstr("is hidden or empty: no PCI tree"));
  EXPECT_THAT(read_sysfs_infiniband(root_).notes.at(0).text, testing::HasSubstr("no RDMA device found"));
  EXPECT_THAT(read_sysfs_net(root_).notes.at(0).text, testing::HasSubstr("is hidden or empty"));
}

}  // namespace
}  // namespace collbench::topology::sysfs_test
