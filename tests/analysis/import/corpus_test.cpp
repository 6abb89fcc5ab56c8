// Every nccl-tests log of the shared corpus of real machines: its rows and its peak, counted by other means
// than our reader, or why it is refused. Skipped when COLLBENCH_CORPUS does not name the corpus.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "analysis/import/import_log.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/record/run.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::corpus_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kByScript =
    "a Python regular expression over whole lines: SIZE COUNT float …, both halves, size 0 apart; peak: the "
    "largest of its busbw groups";
constexpr const char* kByParts =
    "grep -c 'float +sum +-1' for rows; halves and peak: lines that begin with three numbers and a 0, by "
    "grep";

struct Held {
  const char* file = "";
  std::size_t rows = 0;  ///< out of place and in place
  double peak_gb_per_s = 0;
  OperationId operation{};
  int ranks = 0;
  int nodes = 0;  ///< by eye: hosts of the device list; 0: the log has none
  const char* how = "";
  bool operation_given = false;  ///< the log does not say, by eye: no program, nothing checked, two ranks
};

using enum OperationId;
constexpr Held kHeld[] = {
    {"aws_adt_2node_1.txt", 58, 78.33, all_reduce, 16, 0, kByScript},
    {"aws_adt_2node_2.txt", 64, 487.26, all_reduce, 16, 0, kByScript},
    {"aws_adt_2node_3.txt", 12, 437.89, all_reduce, 16, 0, kByScript},
    {"aws_topoaware_1.txt", 6, 369.86, all_reduce, 128, 0, kByScript},
    {"azure_aks_1.txt", 32, 187.22, all_reduce, 16, 0, kByScript},
    {"azure_aks_2.txt", 32, 3.17, all_reduce, 16, 0, kByScript},
    {"deepops_netop_2node_a100_1.txt", 60, 188.70, all_reduce, 16, 0, kByScript},
    {"deepops_roce_2node_1.txt", 58, 22.92, all_reduce, 16, 0, kByScript},
    {"deepops_slurm_4node_dgx_1.txt", 26, 191.56, all_reduce, 32, 0, kByScript},
    {"gke_a3mega_2node_1.txt", 52, 188.90, all_gather, 16, 0, kByScript},
    {"mew0_2xa100_NVLINKFAULT_debug.log", 22, 28.61, all_reduce, 2, 1, kByParts},
    {"mew0_2xa100_normal_debug.log", 22, 216.61, all_reduce, 2, 1, kByParts},
    {"oci_2node_h100_1.txt", 10, 471.22, all_reduce, 16, 2, kByScript},
    {"panlichen_2x4090_all_gather.txt", 27, 9.03, all_gather, 2, 1, kByScript},
    {"panlichen_2x4090_all_reduce.txt", 27, 14.42, all_reduce, 2, 1, kByScript, true},
    {"panlichen_2x4090_broadcast.txt", 27, 18.59, broadcast, 2, 1, kByScript},
    {"panlichen_2x4090_reduce.txt", 27, 19.14, reduce, 2, 1, kByScript},
    {"panlichen_2x4090_reduce_scatter.txt", 27, 10.03, reduce_scatter, 2, 1, kByScript},
    {"panlichen_8xa100_2G4G_all_reduce0.txt", 2, 14.93, all_reduce, 8, 1, kByScript},
    {"panlichen_8xa100_2G4G_all_reduce1.txt", 2, 14.96, all_reduce, 8, 1, kByScript},
    {"panlichen_8xa100_all_gather.txt", 22, 15.99, all_gather, 8, 1, kByScript},
    {"panlichen_8xa100_all_reduce.txt", 22, 14.94, all_reduce, 8, 1, kByScript},
    {"panlichen_8xa100_broadcast.txt", 22, 19.50, broadcast, 8, 1, kByScript},
    {"panlichen_8xa100_reduce.txt", 22, 13.80, reduce, 8, 1, kByScript},
    {"panlichen_8xa100_reduce_scatter.txt", 22, 13.78, reduce_scatter, 8, 1, kByScript},
    {"panlichen_8xv100_all_gather.txt", 27, 134.80, all_gather, 8, 1, kByScript},
    {"panlichen_8xv100_all_reduce.txt", 27, 134.64, all_reduce, 8, 1, kByScript},
    {"panlichen_8xv100_broadcast.txt", 27, 128.60, broadcast, 8, 1, kByScript},
    {"panlichen_8xv100_reduce.txt", 27, 132.47, reduce, 8, 1, kByScript},
    {"panlichen_8xv100_reduce_scatter.txt", 27, 125.56, reduce_scatter, 8, 1, kByScript},
    {"pkb_nccl_output.txt", 22, 0.63, all_reduce, 2, 2, kByScript, true},
    {"s114_all_gather_2gpu.log", 50, 0.51, all_gather, 2, 2, kByScript},
    {"superbench_8xa100_allgather.log", 58, 230.07, all_gather, 8, 1, kByScript},
    {"superbench_8xa100_allreduce.log", 64, 235.26, all_reduce, 8, 1, kByScript},
    {"superbench_8xa100_alltoall.log", 58, 226.16, all_to_all, 8, 1, kByScript},
    {"superbench_8xa100_broadcast.log", 64, 234.70, broadcast, 8, 1, kByScript},
    {"superbench_8xa100_reduce.log", 64, 231.28, reduce, 8, 1, kByScript},
    {"superbench_8xa100_reducescatter.log", 58, 231.52, reduce_scatter, 8, 1, kByScript},
};

struct Refused {
  const char* file;
  const char* reason;
  const char* why;
};

constexpr Refused kRefused[] = {
    {"s114_all2all.log", "4 processes each ran as a separate job", "by eye: four times Rank 0"},
    {"s114_all_reduce_2gpu.log", "4 processes each ran as a separate job", "by eye: four times Rank 0"},
    {"s114_all_reduce_1node_2gpu.log", "holds 2 runs",
     "by eye: one rank, then two processes of one rank each"},
    {"MACHINES.tsv", "has no table of nccl-tests", "by eye: a table of machines"},
};

class ImportCorpus : public testing::Test {
 protected:
  void SetUp() override {
    const char* corpus = std::getenv("COLLBENCH_CORPUS");
    if (corpus == nullptr) {
      GTEST_SKIP() << "COLLBENCH_CORPUS is unset: real machines' logs are NOT imported";
    }
    folder_ = fs::path(corpus) / "nccl-tests";
  }

  [[nodiscard]] collbench::Run read(const char* file, const ImportOptions& options = {}) const {
    return import_log(read_file(folder_ / file), file, options);
  }

  fs::path folder_;
};

TEST_F(ImportCorpus, HoldsWhatOtherMeansCount) {
  for (const Held& row : kHeld) {
    SCOPED_TRACE(std::string(row.file) + ", counted by " + row.how);
    ImportOptions options;
    if (row.operation_given) {
      EXPECT_THROW((void)read(row.file), Error);
      options.operation = row.operation;
    }
    const auto run = read(row.file, options);
    EXPECT_EQ(run.rows.size(), row.rows);
    EXPECT_EQ(run.ranks.size(), static_cast<std::size_t>(row.ranks));
    EXPECT_EQ(run.log->nodes ? run.log->nodes->value : 0, row.nodes);
    double peak = 0;
    for (const Row& each : run.rows) {
      EXPECT_EQ(each.measurement.key.operation, row.operation);
      peak = std::max(peak, rates(each, row.ranks).bus_bandwidth.value_or(0) / 1e9);
    }
    EXPECT_NEAR(peak, row.peak_gb_per_s, 0.005 + 0.002 * row.peak_gb_per_s);  // times have four digits
  }
}

TEST_F(ImportCorpus, RefusesWithTheRightReason) {
  for (const Refused& row : kRefused) {
    try {
      (void)read(row.file);
      ADD_FAILURE() << row.file << " was taken; " << row.why;
    } catch (const Error& error) {
      EXPECT_NE(std::string::npos, describe(error).find(row.reason)) << describe(error) << "; " << row.why;
    }
  }
}

TEST_F(ImportCorpus, EveryFileHasItsRow) {
  std::set<std::string> listed;
  for (const Held& row : kHeld) listed.insert(row.file);
  for (const Refused& row : kRefused) listed.insert(row.file);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_EQ(1U, listed.count(entry.path().filename().string())) << entry.path() << " has no row";
  }
}

TEST_F(ImportCorpus, WhatNcclSaysOfTheFaultOfMew0) {
  const LogFacts fault = *read("mew0_2xa100_NVLINKFAULT_debug.log").log;
  const LogFacts healthy = *read("mew0_2xa100_normal_debug.log").log;
  EXPECT_EQ(fault.channels->value, 2);  // by eye: "2 coll channels", against 24
  EXPECT_EQ(healthy.channels->value, 24);
  EXPECT_EQ(fault.ring_bytes_per_second->value, 20e9);  // by eye: "nChannels 1, bw 20", against 12 × 20
  EXPECT_EQ(healthy.ring_bytes_per_second->value, 240e9);
  EXPECT_EQ(fault.nvlink_least_bytes_per_second->value, 20e9);  // by eye: NVL[20.0] and NVL[240.0]
  EXPECT_EQ(fault.nvlink_most_bytes_per_second->value, 240e9);
  EXPECT_EQ(fault.tunings.size(), 11U);  // grep -c 'Bytes -> Algo' by size
}

}  // namespace
}  // namespace collbench::analysis::corpus_test
