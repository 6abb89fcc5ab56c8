#include "analysis/doctor/doctor_price.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis::doctor_price_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

topology::Host h100() {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  for (topology::Nic& nic : host.nics) {
    nic.board.value = "MT_0000000838";
    for (topology::NicPort& port : nic.ports) port.state.value = "ACTIVE";
  }
  return host;
}

TEST(DoctorPrice, OfOneNicAtHalfItsRateAndOfNvLinksThatAreDown) {
  topology::Host slow = h100();
  slow.nics[7].ports[0].gigabits_per_second.value = 200;
  EXPECT_THAT(doctor_price(slow, "port-slow"),
              AllOf(HasSubstr("on 2 nodes: ring 361.0 → 181.2 GB/s (−50 %)"),
                    HasSubstr("if present when NCCL starts"), HasSubstr("if it happens during a job")));
  topology::Host fewer = h100();
  fewer.gpus[3].nvlinks_active.value = 14;
  EXPECT_THAT(doctor_price(fewer, "nvlink-inactive"),
              HasSubstr("on 1 node: ring 361.9 → 281.8 GB/s (−22 %)"));
}

/// With ports of InfiniBand, one of which is down.
topology::Host one_port_down() {
  topology::Host host = h100();
  for (std::size_t i = 0; i < host.nics.size(); ++i) {
    host.nics[i].name.value = "mlx5_" + std::to_string(i);
    host.nics[i].ports[0].link_layer.value = "InfiniBand";
  }
  host.nics[3].ports[0].state.value = "DOWN";
  host.nics[3].ports[0].gigabits_per_second.value = 10;  // as /sys has it
  return host;
}

TEST(DoctorPrice, OfALostPortIsByPortsOfItsOwnBoard) {
  const std::string price = doctor_price(one_port_down(), "port-down");
  EXPECT_THAT(price, AllOf(HasSubstr("on 2 nodes: ring"), HasSubstr("if present when NCCL starts")));
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
