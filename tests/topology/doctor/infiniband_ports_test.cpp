#include "topology/doctor/infiniband_ports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/topology/doctor/log_check_cases.hpp"
#include "tests/topology/port_states.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology::infiniband_ports_test {
namespace {

/// Cards of one board, each with a port of such words.
Evidence cards(const std::vector<PortWords>& ports) {
  Evidence evidence;
  for (const PortWords& words : ports) {
    Nic& nic = evidence.host.nics.emplace_back();
    nic.name.value = "mlx5_" + std::to_string(evidence.host.nics.size() - 1);
    nic.board.value = "MT_0000000838";
    NicPort& port = nic.ports.emplace_back();
    port.link_layer.value = "InfiniBand";
    port.gigabits_per_second.value = 400;
    set_words(port, words);
  }
  return evidence;
}

std::string answer(const Diagnosis& diagnosis, std::string_view code) {
  const auto has = [code](const auto& checks) {
    return std::any_of(checks.begin(), checks.end(), [code](const auto& each) { return each.code == code; });
  };
  if (has(diagnosis.healthy)) return "healthy";
  return has(diagnosis.not_known) ? "not known" : "found";
}

const PortWords kUp{"ACTIVE", "LinkUp", true};
const std::vector<std::string> kOfPorts{"port-no-subnet", "port-down", "port-slow"};

TEST(InfinibandPorts, EvidenceThatIsBadEverywhereIsNeverHealthy) {
  for (const PortWords& words : port_words()) {
    for (const std::size_t count : {1U, 2U, 3U, 8U}) {
      const Diagnosis diagnosis = diagnose(cards(std::vector<PortWords>(count, words)));
      for (const std::string& code : kOfPorts) {
        if (words.carries == true && (code != "port-slow" || count > 1)) {
          EXPECT_EQ(answer(diagnosis, code), "healthy")
              << words.state << ", " << words.physical << " " << code;
        } else {
          EXPECT_NE(answer(diagnosis, code), "healthy")
              << words.state << ", " << words.physical << " " << code;
        }
      }
    }
  }
}

TEST(InfinibandPorts, OneOfTwoIsInDoubtAndOneAmongThreeIsFound) {
  for (const PortWords& words : port_words()) {
    if (words.carries.value_or(true)) continue;
    const Diagnosis one_of_two = diagnose(cards({kUp, words}));
    const Diagnosis one_of_four = diagnose(cards({kUp, words, kUp, kUp}));
    const bool no_subnet = answer(one_of_two, "port-no-subnet") == "found";
    EXPECT_EQ(answer(one_of_four, no_subnet ? "port-no-subnet" : "port-down"), "found") << words.state;
    if (no_subnet) continue;
    for (const char* code : {"port-no-subnet", "port-down"})
      EXPECT_EQ(answer(one_of_two, code), "not known") << words.state << ", " << words.physical;
  }
}

TEST(InfinibandPorts, ASpareOfAnotherKindClearsWhatIsUp) {
  Evidence evidence = cards({kUp, kUp, {"DOWN", "Disabled", false}});
  evidence.host.nics[2].board.value = "MT_0000000008";
  for (const char* code : {"port-no-subnet", "port-down"})
    EXPECT_EQ(answer(diagnose(evidence), code), "healthy");
}

TEST(InfinibandPorts, WhereNoPortIsUpNoneCarriesAnything) {
  const PortWords down{"DOWN", "Disabled", false};
  EXPECT_EQ(answer(diagnose(cards({down, down})), "no-port-up"), "found");
  EXPECT_EQ(answer(diagnose(cards({down, kUp})), "no-port-up"), "healthy");
  EXPECT_EQ(answer(diagnose(cards({down, {"INIT", "LinkUp", false}})), "no-port-up"), "not known");
  const auto by_text = [](const std::string& state) {
    return diagnose(
        evidence_of({{"", "Failed to open device\nhca_id: mlx5_1\n  port: 1\n    state: " + state}}));
  };
  EXPECT_EQ(answer(by_text("PORT_DOWN (1)\n"), "no-port-up"), "found");
  EXPECT_EQ(answer(by_text("PORT_ACTIVE (4)\n"), "no-port-up"), "healthy");
  EXPECT_EQ(answer(by_text("PORT_INIT (2)\n"), "no-port-up"), "not known");
  EXPECT_EQ(answer(by_text("PORT_ACTIVE (4)\n"), "rdma-devices-closed"), "found");
}

TEST(InfinibandPorts, SeveralOfAKindOfWhichNoneIsUpAreInDoubt) {
  for (const PortWords& words : port_words()) {
    if (words.carries.value_or(true)) continue;
    for (const std::size_t down : {2U, 8U}) {
      std::vector<PortWords> ports(down, words);
      ports.push_back(kUp);
      Evidence evidence = cards(ports);
      evidence.host.nics.back().board.value = "MT_0000000008";  // for storage
      const Diagnosis diagnosis = diagnose(evidence);
      if (answer(diagnosis, "port-no-subnet") == "found") continue;  // none is down
      for (const char* code : {"port-no-subnet", "port-down"})
        EXPECT_EQ(answer(diagnosis, code), "not known") << words.state << ", " << words.physical;
    }
  }
}

TEST(InfinibandPorts, AreThoseOfRdmaDevicesWithWhatIsUpOfTheirKind) {
  Evidence evidence = cards({kUp, kUp, {"DOWN", "Polling", false}, kUp, {"???", "", std::nullopt}, kUp});
  evidence.host.nics[3].ports[0].link_layer.value = "Ethernet";
  evidence.host.nics[5].ports.emplace_back();  // another kind: it has two ports
  const std::vector<InfinibandPort> ports = infiniband_ports(evidence.host);
  ASSERT_EQ(ports.size(), 4U);
  EXPECT_EQ(ports[2].condition, PortCondition::down);
  EXPECT_TRUE(ports[2].is_lost());
  EXPECT_EQ(ports[2].siblings_up.size(), 2U);
  EXPECT_EQ(ports[0].siblings_up.size(), 1U);  // not itself
  EXPECT_TRUE(ports[3].siblings_up.empty());
}

}  // namespace
}  // namespace collbench::topology::infiniband_ports_test
