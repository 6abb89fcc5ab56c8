#include "tools/burnin/attribution/pair_tables/pair_columns.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "tools/burnin/attribution/pair_tables/imported_pairs.hpp"

namespace collbench::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::string_view kOutput =
    "nvbandwidth Version: v0.8\nBuilt from Git version: v0.8\n\nCUDA Runtime Version: 12040\n\n"
    "node7\nDevice 0: NVIDIA H100 80GB HBM3 (00000000:1b:00)\n\nRunning host_to_device_memcpy_ce.\n"
    "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1         2         3\n"
    " 0     55.26     55.25     55.24     55.23\n\nSUM host_to_device_memcpy_ce 220.98\n\n"
    "Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n"
    "           0         1         2         3\n 0       N/A    201.00    202.00    203.00\n"
    " 1    210.00       N/A    212.00    213.00\n 2    220.00    221.00       N/A    223.00\n"
    " 3    230.00    231.00    232.00       N/A\n\nSUM device_to_device_memcpy_read_ce 2598.00\n";

std::vector<std::string> texts(const std::vector<Line>& lines) {
  std::vector<std::string> result;
  for (const Line& line : lines) result.push_back(line.text);
  return result;
}

std::string refused(const std::string& text, const std::string& test = {}) {
  try {
    (void)nvbandwidth_matrix(clean_lines(text), test, "f");
  } catch (const Error& error) {
    return error.where() + ": " + error.what() + ": " + error.next_step();
  }
  return "not refused";
}

TEST(NvbandwidthMatrix, ReadsAreTurnedSoThatRowsSend) {
  EXPECT_TRUE(is_nvbandwidth(clean_lines(kOutput)));
  EXPECT_EQ(texts(nvbandwidth_matrix(clean_lines(kOutput), "", "f")),
            (std::vector<std::string>{"gpu0 gpu1 gpu2 gpu3", "gpu0 N/A 210.00 220.00 230.00",
                                      "gpu1 201.00 N/A 221.00 231.00", "gpu2 202.00 212.00 N/A 232.00",
                                      "gpu3 203.00 213.00 223.00 N/A"}));
}

TEST(NvbandwidthMatrix, IsAScreeningOfPairs) {
  const BurninRecord record = burnin_from_pairs(kOutput, "f", {});
  EXPECT_THAT(record.table.times, SizeIs(12));
  EXPECT_THAT(record.source, HasSubstr("GB/s from row to column"));
  EXPECT_THAT(record.source, HasSubstr("its nodes are the GPUs of one host"));
}

TEST(NvbandwidthMatrix, OfSeveralOneIsChosenByItsTestOrItsTitle) {
  std::string both(kOutput);
  std::string writes = both.substr(both.find("Running device"));
  for (const auto& [from, to] : {std::pair{"read_ce.", "write_ce."}, std::pair{"<-", "->"}})
    writes.replace(writes.find(from), std::string_view(from).size(), to);
  both += writes;
  EXPECT_THAT(refused(both), HasSubstr("several"));
  EXPECT_THAT(refused(both),
              HasSubstr("device_to_device_memcpy_write_ce: memcpy CE GPU(row) -> GPU(column)"));
  EXPECT_EQ(texts(nvbandwidth_matrix(clean_lines(both), "device_to_device_memcpy_write_ce", "f"))[1],
            "gpu0 N/A 201.00 202.00 203.00");
  EXPECT_EQ(
      texts(nvbandwidth_matrix(
          clean_lines(both),
          "device_to_device_memcpy_write_ce: memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)", "f"))[1],
      "gpu0 N/A 201.00 202.00 203.00");
  EXPECT_THAT(refused(both, "pcie"), HasSubstr("none of nvbandwidth's matrices are of 'pcie'"));
}

/// Four sizes of one test in one file are four tables, and none is the mean of them.
TEST(NvbandwidthMatrix, RunsOfOneTestAreNamedByTheirCommandLines) {
  std::string pairs;
  std::string others;
  for (const char* size : {"512", "1024"}) {
    pairs += std::string("$ ./nvbandwidth -t device_to_device_memcpy_read_ce -b ") + size + "\n" +
             std::string(kOutput.substr(kOutput.find("Running device")));
    others +=
        std::string("$ ./nvbandwidth -t host_to_device_memcpy_sm -b ") + size +
        "\nnvbandwidth Version: v0.8\nRunning host_to_device_memcpy_sm.\nmemcpy SM CPU(row) -> GPU(column) "
        "bandwidth (GB/s)\n           0\n 0     25.13\n\n";
  }
  EXPECT_THAT(refused(pairs),
              HasSubstr("of './nvbandwidth -t device_to_device_memcpy_read_ce -b 1024' (line "));
  EXPECT_THAT(refused(pairs, "./nvbandwidth -t device_to_device_memcpy_read_ce -b 512"),
              HasSubstr("not refused"));
  EXPECT_THAT(refused(others), HasSubstr("only 'host_to_device_memcpy_sm: memcpy SM CPU(row) -> GPU(column) "
                                         "bandwidth (GB/s)' of './nvbandwidth -t host_to_device_memcpy_sm -b "
                                         "512' (line 4), 'host_to_device_memcpy_sm"));
}

TEST(NvbandwidthMatrix, WhatIsCutIsRefusedWithItsLine) {
  const std::string whole(kOutput);
  EXPECT_THAT(refused(whole.substr(0, whole.find(" 3    230.00"))),
              HasSubstr("f:17: the matrix has 3 rows of 4"));
  EXPECT_THAT(refused(whole.substr(0, whole.find("    223.00"))), HasSubstr("f:21"));
  EXPECT_THAT(refused(whole.substr(0, whole.find("Running device"))),
              HasSubstr("no matrix of GB/s between GPUs"));
}

}  // namespace
}  // namespace collbench::analysis
