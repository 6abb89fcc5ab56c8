// As of all that prices (tests/analysis/verdict/port_states_test.cpp): a port that carries no traffic counts
// like one that is down, and one that is not known like one whose state nobody read.
#include "tests/topology/port_states.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tools/lab01/report/lab01.hpp"
#include "tools/lab01/tests/report/runs.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis::lab01_port_states_test {
namespace {

/// One of eight NICs has `ports`, and `words` are those of the one at `position`.
topology::Host h100(const topology::PortWords& words, std::size_t ports, std::size_t position) {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  for (topology::Nic& nic : host.nics)
    for (topology::NicPort& port : nic.ports) port.state.value.reset();
  if (ports == 2) {
    host.nics[2].ports.push_back(host.nics[2].ports[0]);
    host.nics[2].ports[1].number = 2;
    host.nics[2].ports[1].gigabits_per_second.value = 200;
  }
  set_words(host.nics[2].ports[position], words);
  return host;
}

std::vector<LinkCeiling> ceilings(const topology::Host& host) {
  static const Lab01Machine reference = lab01_machine();
  Lab01Machine machine = reference;
  machine.host = host;
  return lab01_ceilings(lab01_gpu_run(), machine).links;
}

TEST(Lab01PortStates, WhatCarriesNoTrafficCountsAsDownAndWhatIsNotKnownAsUp) {
  const std::vector<std::function<topology::Host(const topology::PortWords&)>> machines{
      [](const auto& words) { return h100(words, 1, 0); },
      [](const auto& words) { return h100(words, 2, 0); },
      [](const auto& words) { return h100(words, 2, 1); }};
  for (const auto& machine : machines) {
    const auto of_up = ceilings(machine({}));
    const auto of_down = ceilings(machine({"DOWN", "Disabled", false}));
    for (const topology::PortWords& words : topology::port_words())
      EXPECT_TRUE(ceilings(machine(words)) == (words.carries.value_or(true) ? of_up : of_down))
          << words.state << ", " << words.physical;
  }
}

}  // namespace
}  // namespace collbench::analysis::lab01_port_states_test
