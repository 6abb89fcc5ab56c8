#include "topology/telemetry/error_counters.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "tests/base/impossible_values.hpp"
#include "tests/base/temporary_folder.hpp"

namespace collbench::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A /sys of a host with one ConnectX port, as Linux lays it out, which goes when it ends.
class ErrorCountersTest : public ::testing::Test {
 protected:
  void put(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }

  TemporaryFolder folder_;
  const std::filesystem::path& root_ = folder_.path();
};

TEST_F(ErrorCountersTest, PortsPciFunctionsCarriersAndMemory) {
  const std::string port = "class/infiniband/mlx5_0/ports/1/";
  put(port + "counters/symbol_error", "4");
  put(port + "counters/port_xmit_data", "123456");  // traffic is no error
  put(port + "counters/link_downed", "no number");
  put(port + "hw_counters/out_of_sequence", "18446744073709551615");  // beyond what is read: left out
  put(port + "hw_counters/local_ack_timeout_err", "7");
  put("bus/pci/devices/0000:01:00.0/aer_dev_correctable", "RxErr 2\nBadTLP 1\nTOTAL_ERR_COR 3");
  put("class/net/eth0/carrier_changes", "2");
  put("class/net/eth0/device/vendor", "0x15b3");
  const auto put_virtual = [this](const std::string& name, const std::string& peer) {
    put("class/net/" + name + "/carrier_changes", "9");
    put("class/net/" + name + "/ifindex", "4");
    put("class/net/" + name + "/iflink", peer);
  };
  put_virtual("lo", "4");     // also a bridge
  put_virtual("veth1", "7");  // a container's end
  put("devices/system/edac/mc/mc0/ue_count", "1");
  const ErrorCounters seen = read_error_counters(root_);
  EXPECT_THAT(seen.counts,
              ElementsAre(Pair("PCI 0000:01:00.0 aer_dev_correctable", 3), Pair("eth0 carrier_changes", 2),
                          Pair("memory mc0 ue_count", 1), Pair("mlx5_0/1 local_ack_timeout_err", 7),
                          Pair("mlx5_0/1 symbol_error", 4)));
  EXPECT_THAT(seen.notes, ElementsAre(testing::AllOf(HasSubstr("2 error counters here gave no number"),
                                                     HasSubstr("counters/link_downed"))));
}

TEST_F(ErrorCountersTest, AContainerHasAnInterfaceWhoseOtherEndIsElsewhere) {
  for (const auto& [name, peer] : {std::pair{"lo", "1"}, std::pair{"eth0", "7"}, std::pair{"veth1", "8"}}) {
    const std::string folder = std::string("class/net/") + name;
    put(folder + "/carrier_changes", "9");
    put(folder + "/ifindex", "1");
    put(folder + "/iflink", peer);
  }
  put("class/net/veth1/brport/state", "3");  // of a container within
  EXPECT_THAT(read_error_counters(root_).counts, ElementsAre(Pair("eth0 carrier_changes", 9)));
}

TEST_F(ErrorCountersTest, WhatIsHiddenIsNoted) {
  const ErrorCounters seen = read_error_counters(root_);
  EXPECT_THAT(seen.counts, IsEmpty());
  EXPECT_THAT(seen.notes, ElementsAre(HasSubstr("class/infiniband is hidden or empty")));
}

TEST(ErrorCounters, XidsOfProgramsAreNotCounted) {
  ErrorCounters counters;
  count_xids(counters,
             "[1] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n"
             "[2] NVRM: Xid (PCI:0000:3b:00): 31, pid=2, MMU fault\n"
             "[3] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Non-fatal\n[4] eth0: link up\n");
  EXPECT_THAT(counters.counts, ElementsAre(Pair("kernel Xid", 2)));
}

TEST(ErrorCounters, GpusAndTheirNvlinks) {
  ErrorCounters counters;
  GpuReading gpu;
  gpu.address = "0000:3b:00.0";
  gpu.ecc_uncorrected = 2;
  gpu.model = "NVIDIA H100";
  count_gpu_errors(counters, {gpu});
  count_nvlink_errors(
      counters,
      "GPU 0: NVIDIA H100 (UUID: GPU-1)\n\t Link 0: Replay Errors: 3\n\t Link 1: CRC Errors: <inactive>\n");
  EXPECT_THAT(counters.counts, ElementsAre(Pair("GPU 0 NVLink 0 Replay Errors", 3),
                                           Pair("GPU 0000:3b:00.0 ecc_uncorrected", 2)));
  EXPECT_THAT(counters.gpu_models, ElementsAre("NVIDIA H100"));
}

TEST(ErrorCounters, JsonIsOneLineAndComesBack) {
  const ErrorCounters counters{
      "host1", 1000, {{"mlx5_0/1 symbol_error", 4}}, {"dmesg: refused"}, {"NVIDIA H100", "NVIDIA A100"}};
  const std::string text = error_counters_json(counters);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const ErrorCounters back = error_counters_from_json(text, "x");
  EXPECT_EQ(back.host, "host1");
  EXPECT_EQ(back.counts, counters.counts);
  EXPECT_EQ(back.notes, counters.notes);
  EXPECT_EQ(back.gpu_models, counters.gpu_models);
  EXPECT_THROW((void)error_counters_from_json(R"({"record": "other"})", "x"), Error);
  EXPECT_THROW((void)error_counters_from_json("[", "x"), Error);
  const auto json = nlohmann::json::parse(text);
  const auto read = [](const std::string& changed, const std::string& file) {
    (void)error_counters_from_json(changed, file);
  };
  std::set<std::string> tried;
  expect_impossible_numbers_refused(json, read, {}, tried);
  expect_impossible_hosts_refused(json, read, {"/host"});
}

}  // namespace
}  // namespace collbench::topology
