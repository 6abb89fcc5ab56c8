// Different machines are said to be different machines, once (topology/diff/machine_kind.cpp).
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/topology/diff/findings.hpp"
#include "topology/catalog/finding_kinds.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::machine_kind_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Host machine(std::string_view name) { return reference_host(*find_reference_machine(name)); }

bool has_fault(const std::vector<Finding>& all) {
  return std::ranges::any_of(
      all, [](const Finding& each) { return finding_kind(each.code).severity <= Severity::degraded; });
}

auto code(std::string_view text) { return Field(&Finding::code, text); }

TEST(MachineKind, AnotherGpuModelIsOneFindingAndNoFault) {
  for (const ReferenceMachine& a : reference_machines()) {
    for (const ReferenceMachine& b : reference_machines()) {
      const auto found = findings(reference_host(a), reference_host(b), true);
      EXPECT_TRUE(&a != &b || found.empty()) << a.name;
      if (std::string_view(a.gpu_model).substr(7, 5) == std::string_view(b.gpu_model).substr(7, 5)) continue;
      EXPECT_THAT(found, ElementsAre(code("different-machine"))) << a.name << " " << b.name;
    }
  }
  EXPECT_THAT(findings(machine("hgx-h100"), machine("dgx-1v"), true),
              ElementsAre(Field(&Finding::what, "8 × V100 SXM instead of 8 × H100 SXM")));
}

TEST(MachineKind, WhatIsAFaultByItselfIsFoundOnADifferentMachine) {
  Host sick = machine("hgx-h200");
  sick.gpus[2].nvlinks_active.value = 14;
  EXPECT_THAT(findings(machine("dgx-1v"), sick, true),
              ElementsAre(AllOf(code("nvlink-fewer"), Field(&Finding::device, HasSubstr("GPU2"))),
                          code("different-machine")));
}

TEST(MachineKind, OneGpuOfAnotherModelIsThatGpusFinding) {
  Host mixed = machine("hgx-h100");
  mixed.gpus[5].model.value = "NVIDIA L40S";
  mixed.gpus[5].sm.value = 89;
  EXPECT_THAT(findings(machine("hgx-h100"), mixed, false), ElementsAre(code("gpu-model")));
}

TEST(MachineKind, AnotherNetworkIsOneFindingAndTheGpusAreCompared) {
  EXPECT_THAT(findings(machine("hgx-h100"), machine("oci-h100"), true),
              ElementsAre(AllOf(code("different-machine"),
                                Field(&Finding::what, "16 NICs of 200 Gb/s instead of 8 of 400"))));
  Host sick = machine("oci-h100");
  sick.gpus[2].nvlinks_active.value = 14;
  EXPECT_THAT(findings(machine("hgx-h100"), sick, true),
              ElementsAre(code("nvlink-fewer"), code("different-machine")));
}

/// A login node: an Ethernet interface of a rate that nothing states.
Host without_gpus() {
  Host host;
  host.sources = {{"sysfs PCI", "/sys/bus/pci/devices", ""}, {"sysfs net", "/sys/class/net", ""}};
  Nic nic;
  nic.interfaces = {"eth0", 1};
  nic.ports.resize(1);
  host.nics = {nic};
  return host;
}

TEST(MachineKind, OneWithoutGpusAndFabricIsOneFindingOfEveryReference) {
  EXPECT_THAT(findings(machine("hgx-h100"), without_gpus(), true),
              ElementsAre(AllOf(code("different-machine"),
                                Field(&Finding::what,
                                      "no GPU and no fast NIC instead of 8 × H100 SXM and 8 NICs of 400 "
                                      "Gb/s"))));
  for (const ReferenceMachine& each : reference_machines()) {
    if (each.name == std::string_view("a100-pcie")) continue;  // it has no fast NIC either
    EXPECT_THAT(findings(reference_host(each), without_gpus(), true), ElementsAre(code("different-machine")))
        << each.name;
  }
}

TEST(MachineKind, ANodeThatLostAllItsGpusKeepsItsFabricAndIsBroken) {
  Host lost = machine("hgx-h100");
  lost.gpus.clear();
  EXPECT_TRUE(has_fault(findings(machine("hgx-h100"), lost, true))) << "its NICs are there";
  Host unrated = without_gpus();
  unrated.nics[0].name = {"mlx5_0", 1};
  EXPECT_TRUE(has_fault(findings(machine("hgx-h100"), unrated, true))) << "an RDMA device of unknown rate";
  unrated = without_gpus();
  unrated.nics[0].interfaces = {};
  EXPECT_TRUE(has_fault(findings(machine("hgx-h100"), unrated, true))) << "a card of lspci";
  Host partly = without_gpus();
  partly.sources = {{"ibstat", "a file", ""}};
  EXPECT_THAT(findings(machine("hgx-h100"), partly, true),
              testing::Not(testing::Contains(code("different-machine"))))
      << "ibstat knows nothing of GPUs";
}

TEST(MachineKind, NicsThatAreMissingOrSlowAreStillFound) {
  const Host one_missing = without_devices(machine("hgx-h100"), {{DeviceKind::nic, 3}});
  EXPECT_THAT(findings(machine("hgx-h100"), one_missing, true), ElementsAre(code("nic-missing")));
  Host all_slow = machine("hgx-h100");
  for (Nic& nic : all_slow.nics) nic.ports[0].gigabits_per_second.value = 200;
  EXPECT_THAT(findings(machine("hgx-h100"), all_slow, true), ElementsAre(code("nic-port-slower")));
}

TEST(MachineKind, AReferenceIsNeverTheWorseOne) {
  Host faster = machine("a3-mega");
  for (Nic& nic : faster.nics) nic.ports[0].gigabits_per_second.value = 400;
  EXPECT_THAT(findings(machine("a3-mega"), faster, true),
              ElementsAre(AllOf(code("exceeds-reference"), Field(&Finding::side, Side::b))));
  EXPECT_FALSE(has_fault(findings(machine("a3-mega"), faster, true)));
}

TEST(MachineKind, AFigureBetweenTwoRatesOfAllPortsIsTheNextRateAndOfOneASlowPort) {
  Host stated = machine("oci-h100");
  for (Nic& nic : stated.nics) nic.ports[0].gigabits_per_second.value = 180;
  EXPECT_THAT(findings(machine("oci-h100"), stated, true), IsEmpty());
  stated = machine("oci-h100");
  stated.nics[3].ports[0].gigabits_per_second.value = 180;
  EXPECT_THAT(findings(machine("oci-h100"), stated, true), ElementsAre(code("nic-port-slower")));
}

}  // namespace
}  // namespace collbench::topology::machine_kind_test
