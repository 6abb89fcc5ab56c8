#include "analysis/import/nccl_tests_header.hpp"

#include <gtest/gtest.h>

namespace collbench::analysis::nccl_tests_header_test {
namespace {

TEST(NcclTestsHeader, ThreeGenerationsOfHeadings) {
  const auto old =
      nccl_tests_columns("#  size  count  type  time  algbw  busbw  error  time  algbw  busbw  error");
  ASSERT_TRUE(old);
  EXPECT_FALSE(old->reduction);
  EXPECT_FALSE(old->root);
  EXPECT_TRUE(old->wrong_is_error);
  const auto later =
      nccl_tests_columns("0: # size count type redop root time algbw busbw #wrong time algbw busbw #wrong");
  ASSERT_TRUE(later);
  EXPECT_TRUE(later->root);
  EXPECT_EQ(later->per_half, 4U);
  const auto per_iteration = nccl_tests_columns(
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong "
      "i_min "
      "i_max i_p99 i_cv%");
  ASSERT_TRUE(per_iteration);
  EXPECT_EQ(per_iteration->per_half, 8U);
  EXPECT_TRUE(nccl_tests_columns("# size count type redop root cputime algbw busbw #wrong")->cpu_time);
  EXPECT_FALSE(nccl_tests_columns("the size and count and type of it"));
}

TEST(NcclTestsHeader, DeviceLines) {
  const auto device = nccl_tests_device(
      "#  Rank  1 Group  0 Pid  64904 on       mew7 device  1 [0000:65:00] NVIDIA A100 80GB PCIe", 6);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->rank, 1);
  EXPECT_EQ(device->host, "mew7");
  EXPECT_EQ(device->gpu, "NVIDIA A100 80GB PCIe");
  EXPECT_TRUE(nccl_tests_device("#   Rank  0 Pid   9192 on pkb-2 device  0 [0x00] Tesla K80", 1));
  EXPECT_FALSE(nccl_tests_device("Rank 1 of the job is on fire", 1));
}

TEST(NcclTestsHeader, ParametersAndPrograms) {
  const auto parameters = nccl_tests_parameters(
      "# nThread 2 nGpus 4 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 3 "
      "validation: 1");
  ASSERT_TRUE(parameters);
  EXPECT_EQ(parameters->threads * parameters->gpus_per_thread, 8);
  EXPECT_EQ(parameters->iterations, 20U);
  EXPECT_EQ(nccl_tests_program("$ mpirun -np 4 ./build/alltoall_perf -b 8"), "alltoall_perf");
  EXPECT_EQ(nccl_tests_program("./linux_perf"), "");
}

}  // namespace
}  // namespace collbench::analysis::nccl_tests_header_test
