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
