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

TEST(DoctorPrice, IsNotKnownOfWhatNoModelKnows) {
  topology::Host slow = h100();
  slow.nics[2].ports[0].gigabits_per_second.value = 200;
  EXPECT_EQ(doctor_price(slow, "memlock-limit"), "");
  EXPECT_EQ(doctor_price(h100(), "port-slow"), "");  // nothing is slow
  EXPECT_EQ(doctor_price(topology::Host(), "port-slow"), "");
}

}  // namespace
}  // namespace collbench::analysis::doctor_price_test
