#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/import/import_log.hpp"
#include "analysis/import/test_logs.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"

namespace collbench::analysis::nvbandwidth_text_test {
namespace {

constexpr const char* kHead =
    "nvbandwidth Version: v0.8\nBuilt from Git version: v0.8\n\nCUDA Runtime Version: 12040\n"
    "CUDA Driver Version: 12040\nDriver Version: 550.54.15\n\nnode7\n"
    "Device 0: NVIDIA H100 80GB HBM3 (00000000:1b:00)\nDevice 1: NVIDIA H100 80GB HBM3 (00000000:43:00)\n\n";
constexpr const char* kRead =
    "Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
    "           0         1\n 0       N/A    276.07\n 1    250.00       N/A\n\n"
    "SUM device_to_device_memcpy_read_ce 526.07\n\n";

Run imported(const std::string& text) { return import_log(text, "nv.log", {}); }

std::vector<std::string> names(const Run& run) {
  std::vector<std::string> all;
  for (const Row& row : run.rows) all.push_back(row.measurement.key.test);
  return all;
}

const Measurement& row_of(const Run& run, const std::string& test) {
  for (const Row& row : run.rows) {
    if (row.measurement.key.test == test) return row.measurement;
  }
  throw std::runtime_error("no row " + test);
}

TEST(NvbandwidthText, EachCellIsATestWithItsRate) {
  const auto run = imported(std::string(kHead) + kRead);
  EXPECT_THAT(names(run), testing::ElementsAre("device_to_device_memcpy_read_ce: GPU 0 -> GPU 1",
                                               "device_to_device_memcpy_read_ce: GPU 1 -> GPU 0"));
  const Row& row = run.rows[1];
  EXPECT_EQ(row.measurement.key.operation, OperationId::test);
  EXPECT_TRUE(row.measurement.key.states_rate);
  EXPECT_DOUBLE_EQ(row.measurement.seconds, 1 / 250.0);  // of 1 GB
  EXPECT_DOUBLE_EQ(rates(row, 1).bus_bandwidth.value(), 250e9);
  EXPECT_FALSE(rates(row, 1).expected_bus_bandwidth);
  EXPECT_EQ(run.backend, BackendId::other);
  EXPECT_TRUE(run.complete);
}

TEST(NvbandwidthText, TheHeadSaysWhereItRan) {
  const auto run = imported(std::string(kHead) + kRead);
  EXPECT_EQ(run.versions.cuda, "12.4, driver 550.54.15");
  EXPECT_EQ(run.log->version->value, "0.8");
  EXPECT_EQ(run.log->gpu->value, "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(run.ranks.size(), 1U);
  EXPECT_EQ(run.ranks[0].host, "node7");  // 0.7 and later print it before the devices
  const auto older = imported(std::string("Driver Version: 550\n\nDevice 0: A (1)\n") + kRead);
  EXPECT_EQ(older.ranks.at(0).host, "");
}

TEST(NvbandwidthText, ProcessesOfSeveralNodes) {
  const auto run = imported(
      std::string("nvbandwidth Version: v0.8\nProcess 0 (a): device 0: NVIDIA GB200 (00000008:01:00)\n"
                  "Process 1 (a): device 1: NVIDIA GB200 (00000009:01:00)\n"
                  "Process 2 (b): device 0: NVIDIA GB200 (00000008:01:00)\n") +
      "Running multinode_bisect_write_ce.\nBisect benchmarking, simultaneous write CE BW\n"
      "              0\n 0-> 1    380.50\n 1-> 2    381.00\n\nSUM multinode_bisect_write_ce 761.50\n");
  ASSERT_EQ(run.ranks.size(), 3U);
  EXPECT_EQ(run.ranks[2].node, 1);
  EXPECT_EQ(run.ranks[1].local_rank, 1);
  EXPECT_THAT(names(run), testing::ElementsAre("multinode_bisect_write_ce: row 0-> 1",
                                               "multinode_bisect_write_ce: row 1-> 2"));
}

TEST(NvbandwidthText, LatenciesAreTimes) {
  const auto run = imported(
      "Running host_device_latency_sm.\nmemory latency SM CPU(row) <-> GPU(column) (ns)\n    0\n 0  "
      "772.58\n");
  EXPECT_DOUBLE_EQ(run.rows.at(0).measurement.seconds, 772.58e-9);
  EXPECT_FALSE(run.rows[0].measurement.key.states_rate);
  EXPECT_FALSE(rates(run.rows[0], 1).bus_bandwidth);
}

TEST(NvbandwidthText, DirectionsOfOneTestAreTestsOfTheirOwn) {
  std::string text = "Running device_to_host_bidirectional_memcpy_ce.\n";
  for (const char* part : {"Write1", "Write2", "Total"})
    text += std::string("memcpy CE CPU(row) <-> GPU(column) ") + part +
            " bandwidth (GB/s)\n    0\n 0  10.00\n\nSUM device_to_host_bidirectional_memcpy_ce 10.00\n\n";
  EXPECT_THAT(names(imported(text)),
              testing::ElementsAre("device_to_host_bidirectional_memcpy_ce: CPU 0 <-> GPU 0, 1",
                                   "device_to_host_bidirectional_memcpy_ce: CPU 0 <-> GPU 0, 2",
                                   "device_to_host_bidirectional_memcpy_ce: CPU 0 <-> GPU 0, total"));
}

TEST(NvbandwidthText, WhatDidNotRunIsNamed) {
  const auto run = imported(std::string(kHead) + kRead +
                            "Waiving old_test.\nWaived: \nRunning broken_test.\nERROR: no peer access\n" +
                            "Running next_test.\n[CUDA_ERROR_ILLEGAL_ADDRESS] bad in expression x\n");
  EXPECT_EQ(row_of(run, "old_test").unavailable, "waived");
  EXPECT_EQ(row_of(run, "broken_test").unavailable, "failed: ERROR: no peer access");
  EXPECT_THAT(row_of(run, "next_test").unavailable, testing::StartsWith("failed: [CUDA_ERROR_ILLEGAL"));
  ASSERT_EQ(run.log->left_out.size(), 1U);
  EXPECT_EQ(run.log->left_out[0].what, "tests that were waived, which the text does not name");
  EXPECT_THAT(report(run, "text"),
              testing::HasSubstr("Test (broken_test): not available: failed: ERROR: no"));
}

TEST(NvbandwidthText, CellsThatAreNoValueAreCounted) {
  const auto run = imported(
      "Running t.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n 0 1 2 3\n 0 0.00 inf -nan 5.00\n"
      " 1 7.00\n 2 1e-320 6.00 -1 N/A\n");
  EXPECT_THAT(names(run), testing::ElementsAre("t: CPU 0 -> GPU 3", "t: CPU 2 -> GPU 1"));
  ASSERT_EQ(run.log->left_out.size(), 3U);
  EXPECT_EQ(run.log->left_out[0].what, "lines of a table with fewer cells than columns");
  EXPECT_EQ(run.log->left_out[0].line, 5);
  EXPECT_EQ(run.log->left_out[1].count, 1U);  // 0.00
  EXPECT_EQ(run.log->left_out[2].count, 4U);  // inf, -nan, 1e-320, -1
}

TEST(NvbandwidthText, AnOutputThatIsCutIsIncomplete) {
  const std::string whole = std::string(kHead) + kRead;
  EXPECT_FALSE(imported(whole + "Running host_to_device_memcpy_ce.\n").complete);
  EXPECT_FALSE(
      imported(whole + "Running t.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n 0\n 0 5.00\n")
          .complete);
  // Before 0.3 no table has a sum.
  EXPECT_TRUE(
      imported("Running t.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n 0\n 0 5.00\n").complete);
}

TEST(NvbandwidthText, ASumThatItsCellsDoNotMakeIsSaid) {
  std::string text = std::string(kHead) + kRead;
  EXPECT_TRUE(imported(text).log->notes.empty());
  text.replace(text.find("526.07"), 6, "776.07");
  ASSERT_EQ(imported(text).log->notes.size(), 1U);
  EXPECT_THAT(imported(text).log->notes[0], testing::HasSubstr("is 776.07, and its cells make 526.07"));
}

TEST(NvbandwidthText, SeveralInvocationsAreLaunches) {
  std::string again = std::string(kHead) + kRead;
  again.replace(again.find("276.07"), 6, "138.035");
  const std::string both = std::string(kHead) + kRead + again;
  const auto run = imported(both);
  EXPECT_EQ(run.launches, 2);
  EXPECT_EQ(run.rows.size(), 2U);
  EXPECT_THAT(run.rows[0].measurement.launch_passes, testing::ElementsAre(1, 1));
  EXPECT_DOUBLE_EQ(run.rows[0].measurement.seconds, 1.5 / 276.07);
  ImportOptions second;
  second.run = 2;
  EXPECT_DOUBLE_EQ(import_log(both, "a", second).rows[0].measurement.seconds, 2 / 276.07);
  second.run = 3;
  EXPECT_THROW((void)import_log(both, "a", second), Error);
}

TEST(NvbandwidthText, WindowsLineEndsTagsAndColors) {
  std::string text;
  for (const char c : std::string(kHead) + kRead) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(imported(text).rows.size(), 2U);
  EXPECT_EQ(imported("\x1b[1mRunning t.\x1b[0m\n[1,0]<stdout>:memcpy CE CPU(row) -> GPU(column) bandwidth "
                     "(GB/s)\n[1,0]<stdout>: 0\n[1,0]<stdout>: 0 5.00\n")
                .rows.size(),
            1U);
}

TEST(NvbandwidthText, WhatTestsHaveNoUseForIsRefused) {
  ImportOptions options;
  options.topology = "hgx-h100";
  EXPECT_THROW((void)import_log(kRead, "a", options), Error);
  options = {};
  options.operation = OperationId::all_reduce;
  EXPECT_THROW((void)import_log(kRead, "a", options), Error);
  options = {};
  options.job.nodes = 2;
  EXPECT_THROW((void)import_log(kRead, "a", options), Error);
}

TEST(NvbandwidthText, AnOutputWithoutAValueSaysWhereAndWhy) {
  try {
    (void)imported("nvbandwidth Version: v0.6\nWaived:\nWaived:\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "nv.log:2");
    EXPECT_THAT(std::string(error.what()), testing::HasSubstr("does not name: 2)"));
  }
}

TEST(NvbandwidthText, ATableWithoutItsTestIsNamedByItsSum) {
  const std::string table = kRead;
  EXPECT_EQ(names(imported(table.substr(table.find('\n') + 1))).at(0),
            "device_to_device_memcpy_read_ce: GPU 0 -> GPU 1");
}

TEST(NvbandwidthText, TheCorpus) {
  const char* const corpus = std::getenv("COLLBENCH_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "COLLBENCH_CORPUS is not set";
  std::ifstream file(std::string(corpus) + "/tools/superbench_nvbandwidth.log");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto run = imported(text);
  EXPECT_EQ(run.rows.size(), 21U);  // its cells, counted by awk
  EXPECT_EQ(run.log->gpu->value, "NVIDIA GH200 480GB");
  EXPECT_TRUE(run.log->notes.empty());
  EXPECT_TRUE(run.complete);
}

}  // namespace
}  // namespace collbench::analysis::nvbandwidth_text_test
