#include "tools/nccl_plan/simulated_gpu/machine.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace collbench::simulated_gpu {
namespace {

using testing::HasSubstr;
using testing::Not;

SimulatedMachine read(const std::string& devices) {
  return read_machine("<system version=\"1\"><cpu numaid=\"0\">" + devices + "</cpu></system>", "host.xml",
                      {});
}

const std::string kGpu = R"(<pci busid="0000:18:00.0" class="0x030200"><gpu dev="0" sm="80"/></pci>)";

TEST(Machine, GpusAreInTheOrderOfTheirNumbers) {
  const auto machine = read(R"(
    <pci busid="0000:2a:00.0" class="0x030200"><gpu dev="1" sm="90">
      <nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu></pci>)" +
                            kGpu);
  ASSERT_EQ(machine.gpus.size(), 2U);
  EXPECT_EQ(machine.gpus[0].pci_address, "0000:18:00.0");
  EXPECT_EQ(machine.gpus[0].compute_capability, 80);
  EXPECT_FALSE(machine.gpus[0].nvswitch);
  EXPECT_EQ(machine.gpus[1].index, 1);
  EXPECT_TRUE(machine.gpus[1].nvswitch);
}

TEST(Machine, ItsPciIdsAreTheFiles) {
  const auto machine =
      read(kGpu + R"(<pci busid="0000:2a:00.0" class="0x030200" vendor="0x10de" device="0x2330"
    subsystem_vendor="0x10de" subsystem_device="0x16c1"><gpu dev="1" sm="90"/></pci>)");
  EXPECT_EQ(machine.gpus[0].pci_device, 0U);
  EXPECT_EQ(machine.gpus[1].pci_device, 0x233010deU);
  EXPECT_EQ(machine.gpus[1].pci_subsystem, 0x16c110deU);
}

TEST(Machine, ANicHasWhatTheFileSays) {
  const auto machine = read(kGpu + R"(<pci busid="0000:1a:00.0" class="0x020000"><nic>
    <net name="mlx5_0" dev="3" speed="400000" port="2" guid="0x1234" gdr="0" latency="1.5" maxconn="7"/>
    </nic></pci>)");
  ASSERT_EQ(machine.nics.size(), 1U);
  const SimulatedNic& nic = machine.nics[0];
  EXPECT_EQ(nic.name, "mlx5_0");
  EXPECT_EQ(nic.pci_path, "/sys/simulated/0000:1a:00.0");
  EXPECT_EQ(nic.megabits_per_second, 400000);
  EXPECT_EQ(nic.port, 2);
  EXPECT_EQ(nic.guid, 0x1234U);
  EXPECT_FALSE(nic.gpudirect);
  EXPECT_EQ(nic.latency_microseconds, 1.5F);
  EXPECT_EQ(nic.max_connections, 7);
}

TEST(Machine, DevicesThatAreKnownByTheirClassOnly) {
  const auto machine = read_machine(R"(<system version="1"><cpu numaid="0">
    <pci busid="0001:00:00.0" class="0x030200"/><pci busid="0101:00:00.0" class="0x020700"/>
    <pci busid="0102:00:00.0" class="0x020700"/></cpu></system>)",
                                    "host.xml", {70, 100000});
  ASSERT_EQ(machine.gpus.size(), 1U);
  EXPECT_EQ(machine.gpus[0].compute_capability, 70);
  ASSERT_EQ(machine.nics.size(), 2U);
  EXPECT_EQ(machine.nics[1].name, "sim1");
  EXPECT_EQ(machine.nics[1].megabits_per_second, 100000);
  EXPECT_NE(machine.nics[0].guid, machine.nics[1].guid);
  // NCCL finds the plugin's NICs by these names.
  EXPECT_THAT(machine.topology_xml, HasSubstr(R"(<net name="sim1")"));
}

TEST(Machine, TheTopologyIsOneThatNcclReads) {
  const auto machine = read(kGpu + R"(<nic><net name="eth0" dev="0" speed="10000"/></nic>)");
  EXPECT_THAT(machine.topology_xml, HasSubstr(R"(<net name="eth0" dev="0" speed="10000")"));
  EXPECT_THAT(machine.topology_xml, Not(HasSubstr("\t")));  // its reader takes none
}

TEST(Machine, RefusesWhatCannotBeSimulated) {
  EXPECT_THROW((void)read(""), Error);  // no GPU
  EXPECT_THROW((void)read(R"(<pci busid="0000:18:00.0" class="0x030200"><gpu dev="many"/></pci>)"), Error);
  EXPECT_THROW((void)read_machine("<graphs/>", "graph.xml", {}), Error);
}

}  // namespace
}  // namespace collbench::simulated_gpu
