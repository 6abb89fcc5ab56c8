#include "topology/readers/readers.hpp"

#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/source_folder.hpp"
#include "tests/topology/refusal.hpp"

namespace collbench::topology::ibstat_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string two_devices() { return read_file(source_folder() + "/tests/fuzz/seeds/ibstat_fuzz/two_devices"); }

TEST(Ibstat, ReadsDevicesAndPorts) {
  const Host host = read_ibstat(two_devices(), "FILE");
  ASSERT_EQ(host.nics.size(), 2U);
  const Nic& first = host.nics[0];
  EXPECT_EQ(first.name.value, "mlx5_0");
  EXPECT_EQ(first.firmware.value, "28.39.1002");
  EXPECT_EQ(first.guid.value, "0x946dae0003aa1000");
  ASSERT_EQ(first.ports.size(), 1U);
  EXPECT_EQ(first.ports[0].gigabits_per_second.value, 400);
  EXPECT_EQ(first.ports[0].link_layer.value, "InfiniBand");
  ASSERT_EQ(host.nics[1].ports.size(), 2U);
  EXPECT_EQ(host.nics[1].ports[1].number, 2);
}

TEST(Ibstat, SpellsStatesAsTheSystemDoes) {
  const Host host = read_ibstat(two_devices(), "FILE");
  EXPECT_EQ(host.nics[0].ports[0].state.value, "ACTIVE");
  EXPECT_EQ(host.nics[1].ports[0].state.value, "INIT");
  EXPECT_EQ(host.nics[1].ports[1].state.value, "DOWN");
  EXPECT_EQ(host.nics[1].ports[1].physical_state.value, "Polling");
}

TEST(Ibstat, ReadsIbstatusToo) {
  const auto port = [](const std::string& heading, const std::string& state, const std::string& rate) {
    return "Infiniband device '" + heading +
           " status:\n\tdefault gid:\t fe80:0000:0000:0000:88e9:a4ff:ff4c:2bdc\n" +
           "\tbase lid:\t 0x22\n\tsm lid:\t\t 0x47\n\tstate:\t\t " + state +
           "\n\tphys state:\t 5: LinkUp\n\trate:\t\t " + rate + "\n\tlink_layer:\t InfiniBand\n\n";
  };
  const Host host = read_ibstat(port("mlx5_0' port 1", "4: ACTIVE", "200 Gb/sec (4X HDR)") +
                                    port("mlx5_1' port 1", "1: DOWN", "10 Gb/sec (4X)") +
                                    port("mlx5_1' port 2", "2: INIT", "100 Gb/sec (4X EDR)"),
                                "FILE");
  ASSERT_EQ(host.nics.size(), 2U);
  EXPECT_EQ(host.nics[0].ports.at(0).state.value, "ACTIVE");
  EXPECT_EQ(host.nics[0].ports.at(0).physical_state.value, "LinkUp");
  EXPECT_EQ(host.nics[0].ports.at(0).gigabits_per_second.value, 200);
  EXPECT_EQ(host.nics[1].ports.at(0).state.value, "DOWN");
  EXPECT_EQ(host.nics[1].ports.at(1).number, 2);
  EXPECT_EQ(host.nics[1].ports.at(1).link_layer.value, "InfiniBand");
}

TEST(Ibstat, RefusesWhatIsNone) {
  EXPECT_THAT(refusal([] { (void)read_ibstat("", "FILE"); }), HasSubstr("empty"));
  EXPECT_THAT(refusal([] { (void)read_ibstat("a word", "FILE"); }), HasSubstr("ibstat > FILE"));
  EXPECT_THAT(refusal([] { (void)read_ibstat(two_devices() + two_devices(), "FILE"); }),
              AllOf(HasSubstr("FILE:"), HasSubstr("mlx5_0 is listed twice")));
}

TEST(Ibstat, IsKnownByItsDevices) {
  EXPECT_TRUE(kIbstatReader.recognizes(ReaderInput(two_devices())));
  EXPECT_FALSE(kIbstatReader.recognizes(ReaderInput("mlx5_0")));
}

}  // namespace
}  // namespace collbench::topology::ibstat_test
