#include "topology/readers/readers.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"

namespace collbench::topology::csv_test {
namespace {

using testing::HasSubstr;

Host read(const std::string& text) { return read_nvidia_smi_csv(text, "G.csv"); }

TEST(NvidiaSmiCsv, FindsFieldsByTheirNames) {
  const Host host = read(fixture("query_gpu.csv"));
  ASSERT_EQ(2U, host.gpus.size());
  EXPECT_EQ(1, host.gpus[1].index.value);
  EXPECT_EQ(90, host.gpus[1].sm.value);
  EXPECT_EQ("0000:9a:00.0", host.gpus[1].pci_address.value);
  EXPECT_EQ(std::uint64_t{81559} << 20U, host.gpus[1].memory_bytes.value);
  EXPECT_EQ(16, host.pci_devices.at(0).link_max.width.value);
  EXPECT_FALSE(host.pci_devices.at(1).link_max.width.known());  // [N/A]
  EXPECT_EQ("550.54.15", host.driver_version.value);
}

TEST(NvidiaSmiCsv, TakesNumbersWithoutUnits) {
  EXPECT_EQ(std::uint64_t{100} << 20U, read("uuid, memory.total\nGPU-1, 100\n").gpus[0].memory_bytes.value);
}

TEST(NvidiaSmiCsv, RefusesDamage) {
  const auto refused = [](const std::string& text) { return refusal([&] { (void)read(text); }); };
  const std::string whole = fixture("query_gpu.csv");
  EXPECT_THAT(refused(with(whole, "1, NVIDIA", "NVIDIA")),
              HasSubstr("G.csv:3: the row has 13 cells, the header has 14"));
  EXPECT_THAT(refused(whole.substr(whole.find('\n') + 1)), HasSubstr("no header line with"));
  EXPECT_THAT(refused(whole.substr(0, whole.find('\n') + 1)), HasSubstr("no GPU follows the header"));
  EXPECT_THAT(refused("No devices were found\n"), HasSubstr("nvidia-smi failed: 'No devices were found'"));
  EXPECT_THAT(refused("ERROR: ld.so: object\n"), testing::Not(HasSubstr("nvidia-smi failed")));
}

}  // namespace
}  // namespace collbench::topology::csv_test
