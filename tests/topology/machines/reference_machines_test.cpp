#include "topology/machines/reference_machines.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tests/topology/fixture.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::reference_machines_test {
namespace {

constexpr Device gpu(int i) { return {DeviceKind::gpu, i}; }

TEST(ReferenceMachines, AreNamedInLowerCaseWithDashesAndOnce) {
  std::set<std::string_view> names;
  for (const ReferenceMachine& machine : reference_machines()) {
    EXPECT_TRUE(names.insert(machine.name).second) << machine.name;
    EXPECT_EQ(std::string_view::npos,
              machine.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"));
    EXPECT_FALSE(machine.source.empty()) << machine.name;
    EXPECT_EQ(&machine, find_reference_machine(machine.name));
  }
  EXPECT_EQ(nullptr, find_reference_machine("dgx-7"));
}

TEST(ReferenceMachines, EveryOneIsAWholeGraph) {
  for (const ReferenceMachine& machine : reference_machines()) {
    SCOPED_TRACE(std::string(machine.name));
    const Host host = reference_host(machine);
    EXPECT_EQ("", find_inconsistency(host));
    EXPECT_EQ((Topology{{host}}), load_topology(save_topology({{host}}), "R.json"));
    for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
      int links = 0;
      for (const NvLinkBundle& bundle : host.nvlinks)
        links += bundle.from == gpu(i) ? bundle.count.value_or(0) : 0;
      EXPECT_EQ(machine.nvlinks_per_gpu, links);
      EXPECT_TRUE(sm_of(host, host.gpus[static_cast<std::size_t>(i)]).has_value());
      if (host.nics.empty() || machine.name == "polaris") continue;  // which has no switches
      // A GPU has a NIC below its own switch, as the placement of ranks takes for granted.
      EXPECT_EQ(PathType::pix, path_between(host, gpu(i), nics_by_nearness(host, gpu(i)).front())->type);
    }
  }
}

// The data sheets' figures, row by row: GPUs, NVLinks a GPU, NICs, Gb/s together.
TEST(ReferenceMachines, HoldTheDataSheetsFigures) {
  struct Figures {
    const char* name;
    std::size_t gpus;
    int nvlinks;
    std::size_t nics;
    double gigabits;
  };
  for (const Figures& row : std::initializer_list<Figures>{
           {"dgx-1v", 8, 6, 4, 400},     {"hgx-a100", 8, 12, 8, 1600},  {"dgx-a100", 8, 12, 8, 1600},
           {"hgx-h100", 8, 18, 8, 3200}, {"p4de", 8, 12, 4, 400},       {"p5", 8, 18, 32, 3200},
           {"a3-mega", 8, 18, 8, 1600},  {"oci-h100", 8, 18, 16, 3200}, {"a100-pcie", 8, 0, 0, 0},
           {"hgx-h200", 8, 18, 8, 3200}, {"hgx-b200", 8, 18, 8, 3200},  {"gb200-nvl72", 4, 18, 4, 1600},
           {"hgx-h800", 8, 8, 8, 3200},  {"h100-nvl", 8, 12, 4, 1600},  {"l40s", 8, 0, 4, 800},
           {"ndv4", 8, 12, 8, 1600},     {"ndv5", 8, 18, 8, 3200},      {"a3-ultra", 8, 18, 8, 3200},
           {"alps", 4, 18, 4, 800},      {"hgx-b300", 8, 18, 8, 6400},  {"gb300-nvl72", 4, 18, 4, 3200},
           {"polaris", 4, 12, 2, 400}}) {
    SCOPED_TRACE(row.name);
    const Host host = reference_host(*find_reference_machine(row.name));
    EXPECT_EQ(row.gpus, host.gpus.size());
    EXPECT_EQ(row.nvlinks, nvlinks_of(host, gpu(0)));
    EXPECT_EQ(row.nics, host.nics.size());
    double gigabits = 0;
    for (const Nic& nic : host.nics) gigabits += nic.ports.at(0).gigabits_per_second.value_or(0);
    EXPECT_EQ(row.gigabits, gigabits);
  }
}

TEST(ReferenceMachines, SayNothingOfACpuThatNoSourceNames) {
  EXPECT_FALSE(reference_host(*find_reference_machine("a3-ultra")).numa_nodes.at(0).cpu_vendor.known());
  const NumaNode grace = reference_host(*find_reference_machine("gb200-nvl72")).numa_nodes.at(0);
  EXPECT_EQ("ARM", grace.cpu_vendor.value);
  EXPECT_FALSE(grace.cpu_family.known());
  EXPECT_EQ(143, reference_host(*find_reference_machine("hgx-h200")).numa_nodes.at(0).cpu_model.value);
}

TEST(ReferenceMachines, TheCubeMeshHasItsHoles) {
  const Host host = reference_host(*find_reference_machine("dgx-1v"));
  EXPECT_EQ(2, nvlinks_between(host, gpu(0), gpu(3)));
  EXPECT_EQ(0, nvlinks_between(host, gpu(0), gpu(5)));
}

TEST(ReferenceMachines, WhatNoFileConfirmsOfAGraceTrayIsSaid) {
  EXPECT_THAT(how_checked(*find_reference_machine("gb200-nvl72")),
              testing::HasSubstr("that a GPU and a NIC share a PCIe switch is assumed"));
}

TEST(ReferenceMachines, GraceGpusReachTheirCpuByC2c) {
  const Host host = reference_host(*find_reference_machine("gb200-nvl72"));
  const auto path = path_between(host, gpu(0), {DeviceKind::numa_node, 0});
  EXPECT_EQ(PathType::c2c, path->type);
  EXPECT_EQ(450, path->hops.at(0).gigabytes_per_second);
}

}  // namespace
}  // namespace collbench::topology::reference_machines_test
