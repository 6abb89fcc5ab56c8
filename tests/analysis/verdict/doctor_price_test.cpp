#include "analysis/verdict/finding_cost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis::doctor_price_test {
namespace {

using testing::HasSubstr;

topology::Host h100() {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  for (topology::Nic& nic : host.nics) {
    nic.board.value = "MT_0000000838";
    nic.name.value = "mlx5_" + std::to_string(&nic - host.nics.data());
    for (topology::NicPort& port : nic.ports) {
      port.state.value = "ACTIVE";
      port.link_layer.value = "InfiniBand";
    }
  }
  return host;
}

TEST(DoctorPrice, OfOneNicAtHalfItsRateAndOfNvLinksThatAreDown) {
  topology::Host slow = h100();
  slow.nics[7].ports[0].gigabits_per_second.value = 200;
  EXPECT_THAT(
      doctor_price(slow, "port-slow"),
      testing::StrEq("AllReduce on 2 nodes: nvls_tree 474.0 → 415.2 GB/s (−12 %) if present when NCCL "
                     "starts, 354.0 GB/s (−25 %) if it happens during a job; what runs as a ring (AllGather, "
                     "ReduceScatter) −50 %"));
  topology::Host fewer = h100();
  fewer.gpus[3].nvlinks_active.value = 14;
  EXPECT_THAT(doctor_price(fewer, "nvlink-inactive"),
              HasSubstr("on 2 nodes: nvls_tree 474.0 → 367.3 GB/s (−23 %)"));
}

/// `port-slow` is of ports of InfiniBand that are up: what else is slower costs nothing of it.
TEST(DoctorPrice, OfASlowPortIsByThePortsThatTheFindingIsAbout) {
  topology::Host slow = h100();
  slow.nics[7].ports[0].gigabits_per_second.value = 200;
  const std::string price = doctor_price(slow, "port-slow");
  topology::Host more = slow;
  topology::NicPort& ethernet = more.nics.emplace_back(more.nics[0]).ports[0];
  more.nics.back().pci_address.value.reset();
  ethernet.link_layer.value = "Ethernet";
  ethernet.gigabits_per_second.value = 25;
  topology::NicPort& down = more.nics.emplace_back(more.nics[0]).ports[0];
  more.nics.back().pci_address.value.reset();
  down.state.value = "DOWN";
  down.gigabits_per_second.value = 10;
  EXPECT_EQ(doctor_price(more, "port-slow"), price);
}

/// As of `topo diff` (NVIDIA/nccl#1303): two ports that exceed the link that they share have no price.
TEST(DoctorPrice, IsNotModeledOfNicsThatShareAFullLink) {
  topology::Host host = h100();
  const std::size_t single = host.nics.size();
  for (std::size_t i = 0; i < single; ++i) {
    topology::Nic& second = host.nics.emplace_back(host.nics[i]);
    second.name.value = "mlx5_" + std::to_string(single + i);
    second.pci_address.value->back() = '1';
    for (std::size_t pci = 0; pci < host.pci_devices.size(); ++pci) {
      if (host.pci_devices[pci].address != *host.nics[i].pci_address.value) continue;
      host.pci_devices.push_back(host.pci_devices[pci]);
      host.pci_devices.back().address = *second.pci_address.value;
      break;
    }
  }
  const auto not_modeled = HasSubstr("not modeled: several NICs share a PCIe link");
  topology::Host slow = host;
  slow.nics[7].ports[0].gigabits_per_second.value = 200;
  EXPECT_THAT(doctor_price(slow, "port-slow"), not_modeled);
  topology::Host lost = host;
  lost.nics[3].ports[0].state.value = "DOWN";
  EXPECT_THAT(doctor_price(lost, "port-down"), not_modeled);
  topology::Host narrow = host;
  for (topology::PciDevice& pci : narrow.pci_devices)
    if (pci.address == *host.nics[2].pci_address.value) pci.link_now.width.value = 4;
  EXPECT_THAT(doctor_price(narrow, "pcie-narrow"), not_modeled);
}

/// With ports of InfiniBand, one of which is down.
topology::Host one_port_down() {
  topology::Host host = h100();
  host.nics[3].ports[0].state.value = "DOWN";
  host.nics[3].ports[0].gigabits_per_second.value = 10;  // as /sys has it
  return host;
}

TEST(DoctorPrice, OfALostPortIsByPortsOfItsOwnBoard) {
  const std::string price = doctor_price(one_port_down(), "port-down");
  EXPECT_THAT(price, HasSubstr("on 2 nodes: nvls_tree 474.0 → 415.2 GB/s (−12 %)"));
  // Whatever else is up.
  for (const char* layer : {"Ethernet", "InfiniBand"}) {
    for (const double gigabits : {1.0, 10.0, 25.0, 40.0}) {
      topology::Host host = one_port_down();
      topology::Nic& other = host.nics.emplace_back(host.nics[0]);
      other.name.value = "mlx5_9";
      other.pci_address.value.reset();
      other.board.value = "MT_0000000008";
      other.ports[0].link_layer.value = layer;
      other.ports[0].gigabits_per_second.value = gigabits;
      EXPECT_EQ(doctor_price(host, "port-down"), price) << layer << " " << gigabits;
    }
  }
}

TEST(DoctorPrice, OfALostPortIsNotKnownWhereItsBoardIsNotOrPortsOfItDiffer) {
  topology::Host nameless = one_port_down();
  for (topology::Nic& nic : nameless.nics) {
    nic.board.value.reset();
    nic.firmware.value = "28.39.1002";  // 400 Gb/s or 200
  }
  EXPECT_EQ(doctor_price(nameless, "port-down"), "");
  topology::Host unequal = one_port_down();
  unequal.nics[5].ports[0].gigabits_per_second.value = 200;
  EXPECT_EQ(doctor_price(unequal, "port-down"), "");
  topology::Host rateless = one_port_down();
  for (topology::Nic& nic : rateless.nics) nic.ports[0].gigabits_per_second.value.reset();
  EXPECT_EQ(doctor_price(rateless, "port-down"), "");
  topology::Host alone = one_port_down();
  alone.nics[3].board.value = "MT_0000000834";
  EXPECT_EQ(doctor_price(alone, "port-down"), "");
}

TEST(DoctorPrice, IsNotKnownOfWhatNoModelKnows) {
  topology::Host slow = h100();
  slow.nics[2].ports[0].gigabits_per_second.value = 200;
  EXPECT_EQ(doctor_price(slow, "memlock-limit"), "");
  EXPECT_EQ(doctor_price(h100(), "port-slow"), "");  // nothing is slow
  EXPECT_EQ(doctor_price(topology::Host(), "port-slow"), "");
}

}  // namespace
}  // namespace collbench::analysis::doctor_price_test
