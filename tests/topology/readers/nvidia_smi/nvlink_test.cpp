#include "topology/readers/readers.hpp"

#include <gmock/gmock.h>

#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"

namespace collbench::topology::nvlink_test {
namespace {

using testing::HasSubstr;

Host read(const std::string& text) { return read_nvidia_smi_nvlink(text, "N.txt"); }

TEST(NvidiaSmiNvlink, CountsActiveAndInactiveLinks) {
  const Host host = read(fixture("nvlink_s.txt"));
  ASSERT_EQ(2U, host.gpus.size());
  EXPECT_EQ(18, host.gpus[0].nvlinks_active.value);
  EXPECT_EQ(0, host.gpus[0].nvlinks_inactive.value);
  EXPECT_EQ(17, host.gpus[1].nvlinks_active.value);
  EXPECT_EQ(1, host.gpus[1].nvlinks_inactive.value);
  EXPECT_EQ(26.562, host.gpus[1].nvlink_gigabytes_per_second.value);
  EXPECT_EQ("NVIDIA H100 80GB HBM3", host.gpus[0].model.value);
  EXPECT_EQ("GPU-11111111-2222-3333-4444-555555555550", host.gpus[0].uuid.value);
}

TEST(NvidiaSmiNvlink, TheSlowestLinkCounts) {
  EXPECT_EQ(20, read("GPU 0: A (UUID: GPU-1)\n  Link 0: 25 GB/s\n  Link 1: 20 GB/s\n")
                    .gpus[0]
                    .nvlink_gigabytes_per_second.value);
}

TEST(NvidiaSmiNvlink, KeepsTheSentenceThatReplacesTheLinks) {
  const std::string gpu = "GPU 6: NVIDIA A100-SXM4-80GB (UUID: GPU-6)\n";
  const Host inactive = read(gpu + "NVML: Unable to retrieve Nvlink information as all links are inActive\n");
  EXPECT_EQ(0, inactive.gpus[0].nvlinks_active.value);
  EXPECT_THAT(inactive.gpus[0].nvlink_state.value_or(""), HasSubstr("inActive"));
  const Host mig = read(gpu + "Nvlink queries are not supported for Devices in MIG mode\n");
  EXPECT_EQ(true, mig.gpus[0].mig.value);
  EXPECT_FALSE(mig.gpus[0].nvlinks_active.known());
  EXPECT_TRUE(read(gpu + "Device does not have or support Nvlink\n").gpus[0].nvlink_state.known());
}

TEST(NvidiaSmiNvlink, RefusesDamage) {
  const auto refused = [](const std::string& text) { return refusal([&] { (void)read(text); }); };
  const std::string gpu = "GPU 0: A (UUID: GPU-1)\n";
  EXPECT_THAT(refused(""), HasSubstr("N.txt: the file is empty"));
  EXPECT_THAT(refused(gpu + "\t Link 0:\n"), HasSubstr("N.txt:2: 'Link 0:' has no rate in GB/s"));
  EXPECT_THAT(refused(gpu + "\t Link 0: 25 GB/s\n\t Link 0: 25 GB/s\n"),
              HasSubstr("N.txt:3: 'Link 0: 25 GB/s' lists a link a second time"));
  EXPECT_THAT(refused("Link 0: 25 GB/s\n"), HasSubstr("no GPU found"));
}

}  // namespace
}  // namespace collbench::topology::nvlink_test
