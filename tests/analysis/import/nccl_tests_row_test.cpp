#include <gtest/gtest.h>

#include <string>

#include "analysis/import/log_readers.hpp"

namespace collbench::analysis::nccl_tests_row_test {

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
  EXPECT_TRUE(per_iteration->per_call);
  EXPECT_FALSE(later->per_call);
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
  EXPECT_EQ(device->slot, "1 [0000:65:00]");
  const auto copied = nccl_tests_device("# Rank 1 Group 0 Pid 3 on n1 device 1 [0x00] NVIDIA A100 | |", 1);
  EXPECT_EQ(copied->gpu, "NVIDIA A100");
  EXPECT_EQ(copied->slot, "");
  EXPECT_FALSE(nccl_tests_device("Rank 1 of the job is on fire", 1));
  const auto without_host =
      nccl_tests_device("#  Rank  1 Group  0 Pid 7 device  1 [0000:8f:00] NVIDIA B200", 1);
  ASSERT_TRUE(without_host);
  EXPECT_EQ(without_host->host, "");
  EXPECT_EQ(without_host->gpu, "NVIDIA B200");
}

TEST(NcclTestsHeader, ParametersAndPrograms) {
  const auto parameters = nccl_tests_parameters(
      "# nThread 2 nGpus 4 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 3 "
      "validation: 1");
  ASSERT_TRUE(parameters);
  EXPECT_EQ(parameters->threads * parameters->gpus_per_thread, 8);
  EXPECT_EQ(parameters->iterations, 20U);
  EXPECT_EQ(parameters->calls_per_iteration, 3U);
  EXPECT_EQ(nccl_tests_program("$ mpirun -np 4 ./build/alltoall_perf -b 8"), "alltoall_perf");
  EXPECT_EQ(nccl_tests_program("srun ./all_reduce_perf_mpi -b 8"), "all_reduce_perf_mpi");
  EXPECT_EQ(nccl_tests_program("tee all_reduce_perf.log"), "");
  EXPECT_EQ(nccl_tests_program("./linux_perf"), "");
}

RowOrReason row(std::string_view line, const NcclTestsColumns& columns = {}) {
  const auto start = row_start(line, 7);
  return start ? read_row(*start, columns) : RowOrReason{std::nullopt, "no row"};
}

TEST(NcclTestsRow, TimesWithoutAPointAreNumbers) {
  const auto read = row("  1000000000 250000000 float sum -1 12646 79.08 118.61 0 100000 10.00 15.00 3");
  ASSERT_TRUE(read.row) << read.reason;
  EXPECT_DOUBLE_EQ(read.row->out_of_place.seconds, 0.012646);
  EXPECT_EQ(read.row->in_place->wrong_elements, 3U);
  EXPECT_EQ(read.row->root, -1);
  EXPECT_EQ(read.row->line, 7);
}

TEST(NcclTestsRow, TheFirstTablesHaveMilliseconds) {
  const auto first =
      nccl_tests_columns("#  bytes  N  type  op  time  algbw  busbw  res  time  algbw  busbw  res");
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->reduction);
  EXPECT_FALSE(first->root);
  EXPECT_TRUE(first->wrong_is_error);
  const auto read = row("1048576 262144 float sum 2.059 0.51 0.51 N/A 3.314 0.32 0.32 1e-06", *first);
  ASSERT_TRUE(read.row) << read.reason;
  EXPECT_DOUBLE_EQ(read.row->out_of_place.seconds, 0.002059);
  EXPECT_TRUE(
      nccl_tests_device("#   Rank  1 on managed-worker-3jq5 device  0 [0x00] Tesla V100-SXM2-16GB", 1));
  EXPECT_FALSE(nccl_tests_columns("12 bytes of N types in the time that algbw takes"));
}

TEST(NcclTestsRow, AnEmptyReductionAndHalfARow) {
  NcclTestsColumns old;
  old.root = false;
  old.wrong_is_error = true;
  const auto read = row("  1000000000 31250000 float      10000 100.00 87.50 N/A", old);
  ASSERT_TRUE(read.row) << read.reason;
  EXPECT_FALSE(read.row->reduction);
  EXPECT_FALSE(read.row->in_place);
  EXPECT_FALSE(read.row->out_of_place.checked);
}

TEST(NcclTestsRow, MarkdownBarsAndStuckPrefixes) {
  EXPECT_TRUE(row("| 1000000000 | 250000000 | float | sum | -1 | 10000 | 100.00 | 150.00 | 0 | 10000 | "
                  "100.00 | 150.00 | 0 |")
                  .row);
  EXPECT_TRUE(row("0:1000000000 250000000 float sum -1 10000 100.00 150.00 0 10000 100.00 150.00 0").row);
}

TEST(NcclTestsRow, TagsOfALauncherStandBeforeEachPiece) {
  const auto read = row(
      "[0]  1000000000 250000000 float sum -1[0]   10000  100.00  150.00  0[0]   12500   80.00  120.00  0");
  ASSERT_TRUE(read.row) << read.reason;
  EXPECT_EQ(read.row->root, -1);
  EXPECT_DOUBLE_EQ(read.row->in_place->seconds, 0.0125);
  EXPECT_EQ(row_continuation("[12]   12500   80.00  120.00      0").size(), 4U);
}

TEST(NcclTestsRow, TheColumnsOfSingleCalls) {
  const NcclTestsColumns columns{.per_half = 8, .per_call = true};
  const auto read = row(
      "1000000000 250000000 float sum -1 10000 100.00 150.00 0 9000 25000 20000 12.5 10000 100.00 150.00 0 "
      "9500 11000 10900 1.25",
      columns);
  ASSERT_TRUE(read.row) << read.reason;
  EXPECT_DOUBLE_EQ(read.row->out_of_place.calls.minimum.value(), 0.009);
  EXPECT_DOUBLE_EQ(read.row->out_of_place.calls.p99.value(), 0.02);
  EXPECT_DOUBLE_EQ(read.row->out_of_place.calls.variation, 0.125);
  EXPECT_DOUBLE_EQ(read.row->in_place->calls.minimum.value(), 0.0095);
  EXPECT_FALSE(
      row("1000000000 250000000 float sum -1 10000 100.00 150.00 0").row->out_of_place.calls.minimum);
}

TEST(NcclTestsRow, MaskedRatesTakeNothingFromTheTime) {
  const auto read = row("1000000000 250000000 float sum -1 10000 XX.XX XXX.XX 0 10000 XX.XX XXX.XX 0");
  EXPECT_TRUE(read.row) << read.reason;
}

TEST(NcclTestsRow, NumbersThatDoNotAgreeAreNoRow) {
  EXPECT_EQ(row("1000000000 250000000 float sum -1 10000 50.00 150.00 0 10000 100.00 150.00 0").reason,
            "rows whose algbw is not size / time");
  EXPECT_EQ(row("0 0 float sum -1 1.0 0.00 0.00 0 1.0 0.00 0.00 0").reason, "rows of 0 bytes");
  for (const char* const numbers :
       {"12345678901234567890 8", "-8 2", "8 -2", "8 12345678901234567890", "1e99 2"}) {
    EXPECT_EQ(row(std::string(numbers) + " float sum -1 1.0 0.00 0.00 0 1.0 0.00 0.00 0").reason,
              "rows whose size or count cannot be read")
        << numbers;
  }
  EXPECT_EQ(row("measured with half the GPUs of 4 nodes").reason, "no row");
  EXPECT_EQ(row("8 2 float mulsum -1 1.0 0.01 0.01 0 1.0 0.01 0.01 0").reason, "rows of reduction mulsum");
}

TEST(NcclTestsRow, WordsAreNoRow) {
  EXPECT_FALSE(row_start("the float has 2 halves", 1));
  EXPECT_TRUE(row_continuation(" 0 : GPU/0-17000").empty());
  EXPECT_EQ(row_continuation(" 83.33 100.66 100.66 N/A").size(), 4U);
}

}  // namespace

}  // namespace collbench::analysis::nccl_tests_row_test
