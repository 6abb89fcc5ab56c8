#include "topology/graph/port_state.hpp"

#include <gtest/gtest.h>

#include "tests/topology/port_states.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::port_state_test {
namespace {

TEST(PortState, OnlyAnActivePortWithALinkCarriesTrafficAndUnknownIsNotDown) {
  for (const PortWords& words : port_words()) {
    NicPort port;
    set_words(port, words);
    EXPECT_EQ(carries_traffic(port), words.carries) << words.state << ", " << words.physical;
    EXPECT_EQ(may_carry_traffic(port), words.carries.value_or(true)) << words.state << ", " << words.physical;
    if (may_carry_traffic(port)) continue;
    EXPECT_TRUE(port_state_text(port) == words.state || port_state_text(port) == words.physical)
        << port_state_text(port);
  }
}

TEST(PortState, IsReadFromWhatTheToolsPrint) {
  const auto by_ibstat = [](const std::string& state) {
    const Host host = read_ibstat("CA 'mlx5_0'\n\tPort 1:\n\t\tState: " + state +
                                      "\n\t\tPhysical state: LinkUp\n\t\tLink layer: InfiniBand\n",
                                  "FILE");
    return carries_traffic(host.nics.at(0).ports.at(0));
  };
  EXPECT_EQ(by_ibstat("Active"), true);
  for (const char* state : {"Down", "Initializing", "Initialize", "Armed"})
    EXPECT_EQ(by_ibstat(state), false) << state;
  EXPECT_EQ(by_ibstat("???"), std::nullopt);
  const auto by_ibstatus = [](const std::string& state, const std::string& physical) {
    const Host host = read_ibstat("Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t\t " + state +
                                      "\n\tphys state:\t " + physical + "\n\tlink_layer:\t InfiniBand\n",
                                  "FILE");
    return carries_traffic(host.nics.at(0).ports.at(0));
  };
  EXPECT_EQ(by_ibstatus("4: ACTIVE", "5: LinkUp"), true);
  EXPECT_EQ(by_ibstatus("4: ACTIVE", "2: Polling"), false);
  for (const char* state : {"0: NOP", "1: DOWN", "2: INIT", "3: ARMED", "5: ACTIVE_DEFER"})
    EXPECT_EQ(by_ibstatus(state, "5: LinkUp"), false) << state;
}

TEST(PortState, TheRateIsThatOfThePortsThatMayCarryTraffic) {
  Nic nic;
  for (const double gigabits : {100.0, 200.0, 400.0})
    nic.ports.emplace_back().gigabits_per_second.value = gigabits;
  nic.ports.emplace_back();
  EXPECT_EQ(usable_gigabits(nic), 700);
  nic.ports[1].state.value = "INIT";
  nic.ports[2].physical_state.value = "Polling";
  EXPECT_EQ(usable_gigabits(nic), 100);
}

}  // namespace
}  // namespace collbench::topology::port_state_test
