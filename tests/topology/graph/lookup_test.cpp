#include "topology/graph/lookup.hpp"

#include <gmock/gmock.h>

#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::lookup_test {
namespace {

using testing::HasSubstr;

constexpr Device gpu(int i) { return {DeviceKind::gpu, i}; }
constexpr Device nic(int i) { return {DeviceKind::nic, i}; }

Host hgx() { return reference_host(*find_reference_machine("hgx-h100")); }

TEST(Lookup, FindsTheWayToTheRoot) {
  const Host host = hgx();
  const std::string address = *pci_address_of(host, gpu(0));
  const auto way = way_to_root(host, address);
  ASSERT_EQ(way.size(), 2U);
  EXPECT_EQ(way[0]->address, address);
  EXPECT_EQ(way[1]->address, way[0]->parent);
  EXPECT_EQ(way[1]->parent, "");
  EXPECT_TRUE(way_to_root(host, "0000:ff:00.0").empty());
  EXPECT_EQ(find_pci_device(host, ""), nullptr);
  EXPECT_FALSE(pci_address_of(host, {DeviceKind::numa_node, 0}));
}

TEST(VirtualBridge, HasALinkThatNoRealOneHas) {
  const auto bridge = [](const char* vendor, std::optional<double> rate, std::optional<int> width) {
    PciDevice device;
    device.vendor.value = vendor;
    device.link_max = {{rate}, {width}, {}};
    return device;
  };
  for (const char* vendor : {"0x1b36", "0x1414", "0x1d0f", "0x10b5", "0x104c"}) {
    for (const auto& width : {std::optional<int>(), std::optional(0), std::optional(1)}) {
      EXPECT_TRUE(is_virtual_bridge(Host{}, bridge(vendor, 2.5, width))) << vendor;
      EXPECT_FALSE(is_virtual_bridge(Host{}, bridge(vendor, std::nullopt, width)))
          << "not read, without root";
      for (const double rate : {5.0, 8.0, 16.0, 32.0, 64.0})
        EXPECT_FALSE(is_virtual_bridge(Host{}, bridge(vendor, rate, width))) << vendor << rate;
    }
    for (const int width : {2, 4, 8, 16, 32})
      EXPECT_FALSE(is_virtual_bridge(Host{}, bridge(vendor, 2.5, width)));
  }
  PciDevice idle = bridge("0x10b5", std::nullopt, std::nullopt);
  idle.link_now.gigatransfers_per_second.value = 2.5;
  EXPECT_FALSE(is_virtual_bridge(Host{}, idle));
  PciDevice narrow = bridge("0x10b5", 16, 16);
  narrow.link_now = {{2.5}, {1}, {}};
  EXPECT_FALSE(is_virtual_bridge(Host{}, narrow)) << "a fault of a real one";
  PciDevice card = bridge("0x14c3", 2.5, 1);
  card.class_code.value = "0x020000";
  EXPECT_FALSE(is_virtual_bridge(Host{}, card));
}

/// NCCL and /sys give the link of a real switch what both of its ends allow.
TEST(VirtualBridge, IsNotTheRealOneBelowIt) {
  Host guest;
  for (const char* address : {"0000:00:02.0", "0000:10:00.0"}) {
    guest.pci_devices.emplace_back().address = address;
    guest.pci_devices.back().link_max = {{2.5}, {1}, {}};
  }
  guest.pci_devices[1].parent = guest.pci_devices[0].address;
  EXPECT_TRUE(is_virtual_bridge(guest, guest.pci_devices[0]));
  EXPECT_FALSE(is_virtual_bridge(guest, guest.pci_devices[1]));
}

TEST(VirtualBridge, ItsLinkIsWords) {
  PciDevice bridge;
  bridge.link_max = {{2.5}, {1}, {}};
  EXPECT_EQ(virtual_link_text(bridge), "2.5 GT/s x1");
  bridge.link_max.width.value.reset();
  EXPECT_EQ(virtual_link_text(bridge), "2.5 GT/s, width unknown");
}

TEST(Lookup, FindsTheNumaNodeByTheFirstThatKnowsIt) {
  Host host = hgx();
  EXPECT_EQ(numa_node_of(host, gpu(4)), 1);  // by the switch above it
  host.nics[4].numa_node.value = 0;
  EXPECT_EQ(numa_node_of(host, nic(4)), 0);  // by its own word
  host.pci_devices.clear();
  EXPECT_FALSE(numa_node_of(host, gpu(4)));
  host.gpus[4].numa_affinity.value = "0-1";
  EXPECT_FALSE(numa_node_of(host, gpu(4)));  // near both is near neither
  host.gpus[4].numa_affinity.value = "1";
  EXPECT_EQ(numa_node_of(host, gpu(4)), 1);
  host.numa_nodes.resize(1);
  EXPECT_EQ(numa_node_of(host, gpu(5)), host.numa_nodes[0].index);  // there is no other
  EXPECT_EQ(numa_node_of(host, {DeviceKind::numa_node, 0}), host.numa_nodes[0].index);
}

TEST(Lookup, NamesDevicesAsPeopleDo) {
  Host host = hgx();
  host.gpus[1].index.value = 7;
  EXPECT_EQ(device_label(host, gpu(1)), "GPU7");
  EXPECT_EQ(device_label(host, nic(2)), "NIC2");
  host.nics[2].interfaces.value = "eth2";
  EXPECT_EQ(device_label(host, nic(2)), "eth2");
  host.nics[2].name.value = "mlx5_2";
  EXPECT_EQ(device_label(host, nic(2)), "mlx5_2");
  EXPECT_EQ(device_label(host, {DeviceKind::numa_node, 1}), "NUMA 1");
  EXPECT_THAT(device_label(host, {DeviceKind::nvswitch, 0}), HasSubstr("NVSwitch 0000:"));
  EXPECT_EQ(gpus_and_nics(host).size(), 16U);
  EXPECT_EQ(gpus_and_nics(host)[8], nic(0));
}

TEST(Lookup, AStatedPathHoldsBothWays) {
  Host host = hgx();
  host.stated_paths = {{gpu(0), nic(1), {PathType::pix}, {}},
                       {gpu(0), gpu(1), {PathType::nvl}, {}},
                       {gpu(1), gpu(0), {PathType::sys}, {}}};
  EXPECT_EQ(find_stated_path(host, nic(1), gpu(0))->type.value, PathType::pix);
  EXPECT_EQ(find_stated_path(host, gpu(1), gpu(0))->type.value, PathType::sys);  // its own word first
  EXPECT_EQ(find_stated_path(host, gpu(2), gpu(0)), nullptr);
}

TEST(Lookup, KnowsTheComputeCapabilityByTheModel) {
  Host host = hgx();
  host.gpus[0].sm = {};
  EXPECT_EQ(sm_of(host, host.gpus[0]), 90);
  host.gpus[0].model = {};
  EXPECT_FALSE(sm_of(host, host.gpus[0]));
  for (PciDevice& device : host.pci_devices) device.device.value = "0x2330";
  EXPECT_EQ(sm_of(host, host.gpus[0]), 90);  // by its PCI ids
}

TEST(Lookup, DropsBridgesAboveNothing) {
  Host host = hgx();
  const std::size_t before = host.pci_devices.size();
  host.pci_devices.emplace_back().address = "0000:ee:00.0";
  drop_idle_bridges(host);
  EXPECT_EQ(host.pci_devices.size(), before);
}

TEST(Lookup, SaysWhyAGraphDoesNotHold) {
  EXPECT_EQ(find_inconsistency(hgx()), "");
  const auto wrong = [](auto damage) {
    Host host = hgx();
    damage(host);
    return find_inconsistency(host);
  };
  EXPECT_THAT(wrong([](Host& h) { h.pci_devices[1].parent = "0000:ff:00.0"; }),
              HasSubstr("which is missing"));
  EXPECT_THAT(wrong([](Host& h) { h.pci_devices[0].parent = h.pci_devices[1].address; }),
              HasSubstr("below itself"));
  EXPECT_THAT(wrong([](Host& h) { h.nvlinks[0].to.index = 99; }), HasSubstr("NVLink leads to a device"));
  EXPECT_THAT(wrong([](Host& h) { h.stated_paths.push_back({gpu(0), nic(-1), {}, {}}); }),
              HasSubstr("a path leads"));
  EXPECT_THAT(wrong([](Host& h) { h.peer_access.push_back({gpu(0), gpu(8), {}}); }),
              HasSubstr("peer access"));
  EXPECT_THAT(wrong([](Host& h) { h.nccl_graphs.emplace_back().channels = {{gpu(0), nic(8)}}; }),
              HasSubstr("a channel of NCCL's"));
  EXPECT_THAT(wrong([](Host& h) { h.nics[7].ports[0].state.source = 1; }),
              HasSubstr("a source that is missing"));
}

ChannelGraph graph(int id, std::vector<std::vector<Device>> channels) {
  ChannelGraph made;
  made.id = id;
  made.channels = std::move(channels);
  return made;
}

TEST(ChannelGraph, HasTheNameOfItsAlgorithm) {
  EXPECT_EQ(nccl_graph_name(0), "NCCL's ring");
  EXPECT_EQ(nccl_graph_name(3), "NCCL's NVLS");
  EXPECT_EQ(nccl_graph_name(7), "NCCL's graph 7");
}

TEST(ChannelGraph, ARingInsideAHostHasNoFirstGpuAndItsChannelsNoOrder) {
  const auto one = graph(0, {{gpu(0), gpu(1), gpu(2)}, {gpu(0), gpu(2), gpu(1)}});
  EXPECT_EQ(sorted_channels(one),
            sorted_channels(graph(0, {{gpu(2), gpu(1), gpu(0)}, {gpu(1), gpu(2), gpu(0)}})));
  EXPECT_NE(sorted_channels(one),
            sorted_channels(graph(0, {{gpu(0), gpu(1), gpu(2)}, {gpu(0), gpu(1), gpu(2)}})));
}

TEST(ChannelGraph, ATreeStartsWhereItStarts) {
  EXPECT_NE(sorted_channels(graph(1, {{gpu(0), gpu(1)}})), sorted_channels(graph(1, {{gpu(1), gpu(0)}})));
}

TEST(ChannelGraph, ItsWaysAreWords) {
  Host host;
  host.gpus.resize(2);
  host.nics.resize(1);
  host.nics[0].nccl_net.value = 3;
  const auto ring = graph(0, {});
  EXPECT_EQ(channel_text(host, ring, {gpu(0), gpu(1)}), "GPU0 → GPU1 → GPU0");
  EXPECT_EQ(channel_text(host, ring, {{DeviceKind::nic, 0}, gpu(1), {DeviceKind::nic, 0}}),
            "NET3 → GPU1 → NET3");
}

}  // namespace
}  // namespace collbench::topology::lookup_test
