// Different machines are said to be different machines, once (topology/diff/machine_kind.cpp).
#include <gmock/gmock.h>

#include "tests/topology/diff/findings.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::machine_kind_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Host machine(std::string_view name) { return reference_host(*find_reference_machine(name)); }

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
