// Every state of a port, in all that prices: what carries no traffic counts like a port that is down, and
// what is not known like one whose state nobody read.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/models/nccl/machine_graph.hpp"
#include "analysis/models/nccl/node_nics.hpp"
#include "analysis/models/nccl/planned_node.hpp"
#include "analysis/report/lab01/lab01.hpp"
#include "analysis/verdict/finding_cost.hpp"
#include "tests/analysis/report/lab01/runs.hpp"
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

void expect_like(const topology::Host& host, const topology::Host& like, const std::string& what) {
  EXPECT_EQ(fast_enough_nics(host), fast_enough_nics(like)) << what;
  EXPECT_EQ(node_nics(host, 90).used, node_nics(like, 90).used) << what;
  EXPECT_EQ(node_nics(host, 90).fastest.line_rate, node_nics(like, 90).fastest.line_rate) << what;
  EXPECT_EQ(slowest_nic(like, host)->line_rate, slowest_nic(like, like)->line_rate) << what;
  std::vector<int> nics(host.nics.size());
  for (std::size_t i = 0; i < nics.size(); ++i) nics[i] = static_cast<int>(i);
  EXPECT_EQ(machine_graph(host, 8, nics).all(NodeKind::net).size(),
            machine_graph(like, 8, nics).all(NodeKind::net).size())
      << what;
  EXPECT_EQ(nets_of_xml(host), nets_of_xml(like)) << what;
  Lab01Machine machine = lab01_machine();
  machine.host = host;
  Lab01Machine like_machine = machine;
  like_machine.host = like;
  EXPECT_EQ(lab01_ceilings(lab01_gpu_run(), machine).links,
            lab01_ceilings(lab01_gpu_run(), like_machine).links)
      << what;
}

TEST(PortStates, WhatCarriesNoTrafficCountsAsDownAndWhatIsNotKnownAsUpWhereverItIsPriced) {
  const topology::PortWords down{"DOWN", "Disabled", false};
  ASSERT_LT(fast_enough_nics(h100(down)).size(), fast_enough_nics(h100({})).size());
  ASSERT_LT(nets_of_xml(h100(down)), nets_of_xml(h100({})));
  for (const topology::PortWords& words : topology::port_words()) {
    const std::string what = words.state + ", " + words.physical;
    const topology::PortWords& like = words.carries.value_or(true) ? topology::PortWords{} : down;
    expect_like(h100(words), h100(like), what);
    for (const std::size_t port : {0U, 1U}) expect_like(h100(words, port), h100(like, port), what);
  }
}

TEST(PortStates, AFindingOfAPortThatCarriesNoTrafficHasThePriceOfOneThatIsDown) {
  const topology::Host healthy = h100({"ACTIVE", "LinkUp", true});
  const auto found = [&healthy](const topology::PortWords& words) {
    const topology::HostPair pair = topology::pair_hosts(healthy, h100(words), false);
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
  for (const topology::PortWords& words : topology::port_words()) {
    if (words.carries.value_or(true)) {
      EXPECT_TRUE(found(words).empty()) << words.state << ", " << words.physical;
    } else {
      EXPECT_EQ(found(words), down) << words.state << ", " << words.physical;
    }
  }
}

}  // namespace
}  // namespace collbench::analysis::port_states_test
