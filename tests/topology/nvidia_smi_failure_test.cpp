#include "topology/nvidia_smi_failure.hpp"

#include <gtest/gtest.h>

namespace collbench::nvidia_smi_failure_test {
namespace {

TEST(NvidiaSmiFailure, IsKnownByNvidiaSmisWords) {
  const auto error = find_nvidia_smi_error(clean_lines("x\nNVIDIA-SMI has failed because it couldn't\n"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->number, 2);
  EXPECT_FALSE(find_nvidia_smi_error(clean_lines("all is well\n")));
}

TEST(NvidiaSmiFailure, IsTheReasonBeforeWhatIsMissing) {
  const Error missing = usage_error("F", "there is no table in it", "save it again");
  EXPECT_EQ(without_nvidia_smi_output(clean_lines("all is well\n"), "F", missing).where(), "F");
  const Error failed = without_nvidia_smi_output(clean_lines("x\nNo devices were found\n"), "F", missing);
  EXPECT_EQ(describe(failed),
            "collbench: F:2: nvidia-smi failed: 'No devices were found'; run nvidia-smi by hand and see to "
            "that first");
}

}  // namespace
}  // namespace collbench::nvidia_smi_failure_test
