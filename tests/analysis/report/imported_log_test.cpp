#include "analysis/report/sections.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::analysis::imported_log_test {
namespace {

std::string all_of(const LogFacts& log) {
  std::string text;
  for (const ReportLine& fact : imported_log_lines(log, true)) text += fact.text + "\n";
  return text;
}

TEST(LogWords, EveryFactNamesItsLine) {
  LogFacts log;
  log.gpu = {"NVIDIA H100 80GB HBM3", 7};
  log.nodes = {2, 0};
  log.network = {"IB", 31};
  log.connections = {{"NET/IB", true, 16, 40}};
  log.tunings = {{8, "tree", "ll", 2, 50}, {16, "tree", "ll", 2, 51}, {1 << 30U, "nvls", "simple", 16, 60}};
  EXPECT_EQ(all_of(log),
            "the log says: GPU NVIDIA H100 80GB HBM3 (line 7); nodes 2 (given)\n"
            "network: IB (line 31); 16 connections via NET/IB with GPUDirect RDMA (line 40)\n"
            "NCCL set up: 8 B to 16 B by tree ll (line 50); 1 GiB by nvls simple (line 60)\n"
            "missing from the log: the NICs (--topology or --nics)\n");
}

TEST(LogWords, WhatIsMissingIsAskedFor) {
  EXPECT_THAT(all_of({}),
              testing::HasSubstr("missing from the log: the GPU (--topology), the number of nodes (--nodes), "
                                 "the NICs (--topology or --nics), the transport"));
  LogFacts one_node;
  one_node.gpu = {"Tesla V100", 1};
  one_node.nodes = {1, 1};
  EXPECT_THAT(all_of(one_node), testing::Not(testing::HasSubstr("missing from the log")));
  EXPECT_THAT(imported_log_lines({}, false),
              testing::IsEmpty());  // of MPI on host memory nothing of it is asked
}

TEST(LogWords, AnNvlinkPathFarBelowTheOthersIsFlagged) {
  LogFacts log;
  log.nvlink_most_bytes_per_second = {240e9, 92};
  log.nvlink_least_bytes_per_second = {20e9, 89};
  EXPECT_THAT(all_of(log), testing::HasSubstr("warning: between some GPUs NVLink has 20.0 GB/s (line 89), "
                                              "between others 240 GB/s: links may be down"));
  log.nvlink_least_bytes_per_second = {120e9, 89};
  EXPECT_THAT(all_of(log), testing::Not(testing::HasSubstr("warning")));
}

TEST(LogWords, WhatWasLeftOutIsCounted) {
  LogFacts log;
  log.left_out = {{"rows of 0 bytes", 5, 22}};
  EXPECT_THAT(all_of(log), testing::HasSubstr("skipped: rows of 0 bytes: 5, the first on line 22"));
}

}  // namespace
}  // namespace collbench::analysis::imported_log_test
