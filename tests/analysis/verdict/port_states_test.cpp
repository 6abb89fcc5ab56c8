// Every state of a port, in all that prices (of Lab 01: tools/lab01/tests/report/port_states_test.cpp): what
// carries no traffic counts like a port that is down, and what is not known like one whose state nobody read.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analysis/models/nccl/machine_graph.hpp"
#include "analysis/models/nccl/node_nics.hpp"
#include "analysis/verdict/finding_cost.hpp"
#include "tests/topology/port_states.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/render/render.hpp"

namespace collbench::analysis::port_states_test {
namespace {

/// One of eight NICs has two ports, and `words` are those of its port at `position`.
topology::Host h100(const topology::PortWords& words, std::size_t position) {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  host.nics[2].ports.push_back(host.nics[2].ports[0]);
  host.nics[2].ports[1].number = 2;
  host.nics[2].ports[1].gigabits_per_second.value = 200;
  for (topology::Nic& nic : host.nics) {
    for (topology::NicPort& port : nic.ports) port.state.value.reset();
  }
  set_words(host.nics[2].ports[position], words);
  return host;
}

/// The same where nothing but the words of its only port differs.
topology::Host h100(const topology::PortWords& words) {
  topology::Host host = h100({}, 0);
  host.nics[2].ports.pop_back();
  set_words(host.nics[2].ports[0], words);
  return host;
}

std::size_t nets_of_xml(const topology::Host& host) {
  const std::string xml = topology::write_nccl_topology_xml(host);
  std::size_t nets = 0;
  for (std::size_t at = xml.find("<net "); at != std::string::npos; at = xml.find("<net ", at + 1)) ++nets;
  return nets;
}

/// Each state alone, and each physical one beside an active one: prices go by no other words of them.
std::vector<topology::PortWords> each_state() {
  std::vector<topology::PortWords> all = topology::port_words();
  std::erase_if(all, [](const auto& words) { return !words.physical.empty() && words.state != "ACTIVE"; });
  return all;
}

/// What all that prices takes from a machine.
struct Taken {
  std::vector<int> nics;
  int used = 0;
  double line_rate = 0;
  std::size_t nets_of_search = 0;
  std::size_t nets_for_nccl = 0;

  bool operator==(const Taken&) const = default;
};

Taken taken(const topology::Host& host) {
  std::vector<int> nics(host.nics.size());
  std::iota(nics.begin(), nics.end(), 0);
  const NodeNics node = node_nics(host, GpuGeneration::hopper);
  return {fast_enough_nics(host), node.used, node.fastest.line_rate,
          machine_graph(host, 8, nics).all(NodeKind::net).size(), nets_of_xml(host)};
}

TEST(PortStates, WhatCarriesNoTrafficCountsAsDownAndWhatIsNotKnownAsUpWhereverItIsPriced) {
  const topology::PortWords down{"DOWN", "Disabled", false};
  const std::vector<std::function<topology::Host(const topology::PortWords&)>> machines{
      [](const auto& words) { return h100(words); },     // of a NIC's only port
      [](const auto& words) { return h100(words, 0); },  // of one of two
      [](const auto& words) { return h100(words, 1); }};
  for (const auto& machine : machines) {
    const Taken of_up = taken(machine({}));
    const Taken of_down = taken(machine(down));
    ASSERT_FALSE(of_up == of_down);
    for (const topology::PortWords& words : each_state()) {
      const Taken& like = words.carries.value_or(true) ? of_up : of_down;
      EXPECT_TRUE(taken(machine(words)) == like) << words.state << ", " << words.physical;
    }
  }
}

TEST(PortStates, AFindingOfAPortThatCarriesNoTrafficHasThePriceOfOneThatIsDown) {
  const topology::Host healthy = h100({"ACTIVE", "LinkUp", true});
  const auto found = [&healthy](const topology::PortWords& words) {
    const topology::Host faulty = h100(words);
    const topology::HostPair pair = topology::pair_hosts(healthy, faulty, false);
    std::vector<std::pair<std::string, std::string>> priced;
    for (const topology::Finding& finding : topology::diff_hosts(pair).findings) {
      const FindingPrice price = finding_price(pair, finding);
      std::string rates = std::string(price_kind_name(price.kind));
      for (const FindingCost& cost : price.costs) rates += " " + std::to_string(cost.faulty.ring.value_or(0));
      priced.emplace_back(finding.code, rates);
    }
    return priced;
  };
  const auto down = found({"DOWN", "Disabled", false});
  ASSERT_EQ(down.size(), 1U);
  EXPECT_EQ(down[0].first, "nic-port-down");
  for (const topology::PortWords& words : each_state()) {
    if (words.carries.value_or(true)) {
      EXPECT_TRUE(found(words).empty()) << words.state << ", " << words.physical;
    } else {
      EXPECT_EQ(found(words), down) << words.state << ", " << words.physical;
    }
  }
}

}  // namespace
}  // namespace collbench::analysis::port_states_test
