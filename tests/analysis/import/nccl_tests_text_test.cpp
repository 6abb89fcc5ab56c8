#include "analysis/import/log_readers.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/import/logs.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::nccl_tests_text_test {
namespace {

std::vector<LogTable> tables(const std::string& text) { return read_nccl_tests_text(log_lines(text)); }

TEST(NcclTestsText, ARowThatComesInThreeParts) {
  const std::string log = std::string(kNewHeading) +
                          "  1000000000  250000000  float  sum  -1n1:1:2 [0] NCCL INFO AllReduce: opCount 0\n"
                          "n1:1:2 [0] NCCL INFO AllReduce: opCount 1\n"
                          "    10000  100.00  150.00      0n1:1:2 [1] NCCL INFO AllReduce: opCount 0\n"
                          "n1:1:2 [0] NCCL INFO AllReduce: opCount 1\n"
                          "    12500   80.00  120.00      0\n" +
                          std::string(kFooter);
  const auto read = tables(log);
  ASSERT_EQ(read.size(), 1U);
  ASSERT_EQ(read[0].rows.size(), 1U);
  EXPECT_DOUBLE_EQ(read[0].rows[0].out_of_place.seconds, 0.01);
  EXPECT_DOUBLE_EQ(read[0].rows[0].in_place->seconds, 0.0125);
  EXPECT_EQ(read[0].rows[0].line, 3);
}

TEST(NcclTestsText, AProgramThatDiedBeforeItsTableLendsNoDevices) {
  const std::string start =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20\n";
  const auto read = tables(start + devices("Tesla V100") + start + devices() + std::string(kNewHeading) +
                           std::string(kTwoRows) + std::string(kFooter));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].devices.size(), 4U);
  EXPECT_FALSE(read[0].interleaved);
  EXPECT_EQ(read[0].iterations, 20U);
}

TEST(NcclTestsText, WhatItSaysOfMemoryBelongsToNoRow) {
  const std::string one = std::string(kNewHeading) + std::string(kTwoRows) + std::string(kFooter);
  const std::string memory =
      "# GPU memory usage     : Initialization 286 MB | User-Allocated 3.00 GB | Collective 34.0 MB | Total  "
      "3.31 GB\n#\n";
  const auto plain = tables(one + one);
  const auto read = tables(one + memory + one + memory);
  ASSERT_EQ(read.size(), plain.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].rows.size(), 2U);
    EXPECT_EQ(read[i].facts.left_out.size(), plain[i].facts.left_out.size());
    EXPECT_EQ(read[i].ended, plain[i].ended);
    EXPECT_FALSE(read[i].failure);
  }
}

TEST(NcclTestsText, TheProgramIsTheOneThatWasStartedLast) {
  const auto read = tables("$ ./build/all_gather_perf -b 8\n$ mpirun -np 4 ./build/all_reduce_perf -a 3\n" +
                           std::string(kNewHeading) + std::string(kTwoRows));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].facts.program->value, "all_reduce_perf");
  EXPECT_EQ(read[0].time_reduction, RankAggregate::maximum);
}

TEST(NcclTestsText, HowTheBuffersWereRegistered) {
  const auto registered = [](const std::string& start) {
    return tables(start + "\n" + std::string(kNewHeading) + std::string(kTwoRows)).at(0).registration;
  };
  EXPECT_EQ(registered("$ ./build/all_reduce_perf -b 8 -R 1 -e 1G"), BufferRegistration::local);
  EXPECT_EQ(registered("$ ./build/all_reduce_perf --local_register=2"), BufferRegistration::symmetric);
  EXPECT_EQ(registered("$ ./build/all_reduce_perf -R0"), BufferRegistration::none);
  EXPECT_EQ(registered("$ ./build/all_reduce_perf -b 8"), std::nullopt);  // the line may be cut
  EXPECT_EQ(registered("$ ./build/all_reduce_perf -b 8 -R"), std::nullopt);
  EXPECT_EQ(registered("$ ./build/all_reduce_perf -R 2\n"
                       "Option -R 2 (symmetric) is not supported before NCCL 2.27. Defaulting to local "
                       "registration"),
            BufferRegistration::local);
  EXPECT_EQ(registered("$ ./build/all_reduce_perf -R 1\n"
                       "Option -R (register) is not supported before NCCL 2.19. Ignoring"),
            BufferRegistration::none);
}

TEST(NcclTestsText, ARowCutByTheNextIsCounted) {
  const auto read =
      tables(std::string(kNewHeading) +
             "  1000000000  250000000  float  sum  -1n1:1:2 [0] NCCL INFO AllReduce: opCount 0\n" +
             std::string(kTwoRows));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].rows.size(), 2U);
  ASSERT_EQ(read[0].facts.left_out.size(), 1U);
  EXPECT_EQ(read[0].facts.left_out[0].line, 3);
}

TEST(NcclTestsText, KindsOfLinesThatAreLeftOutAreBounded) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "8 2 f8e" + std::to_string(i) + " sum -1 1 1 1 0 1 1 1 0\n";
  const auto read = read_nccl_tests_text(log_lines(text));
  ASSERT_EQ(read.size(), 1U);
  ASSERT_EQ(read[0].facts.left_out.size(), 21U);
  EXPECT_EQ(read[0].facts.left_out.back().what, "lines left out for other reasons");
  EXPECT_EQ(read[0].facts.left_out.back().count, 80U);
}

TEST(NcclTestsText, JobsUnderLabelsAreReadApart) {
  const auto interleaved = [](const std::vector<std::string>& labels, const std::string& log) {
    std::string all;
    for (std::size_t at = 0; at < log.size(); at = log.find('\n', at) + 1)
      for (const std::string& label : labels)
        all += prefixed(log.substr(at, log.find('\n', at) + 1 - at), label);
    return tables(all);
  };
  const std::vector<std::vector<std::string>> launchers{
      {"0: ", "1: ", "2: "},
      {"n17: ", "n18: "},
      {"[1,0]<stdout>: ", "[1,1]<stdout>: "},
      {" 9: ", "10: "},
      {"[prterun-n17-4711@1,0]<stdout>: ", "[prterun-n17-4711@1,1]<stdout>: "}};
  for (const auto& labels : launchers) {
    const auto read = interleaved(labels, whole_log());
    ASSERT_EQ(read.size(), labels.size()) << labels.front();
    for (const LogTable& each : read) {
      EXPECT_FALSE(each.interleaved);
      EXPECT_EQ(each.devices.size(), 4U);
      EXPECT_EQ(each.rows.size(), 2U);
    }
  }
  std::string one_gpu = whole_log();
  for (const char* rank : {"#  Rank  1", "#  Rank  2", "#  Rank  3"})
    one_gpu.erase(one_gpu.find(rank), one_gpu.find('\n', one_gpu.find(rank)) + 1 - one_gpu.find(rank));
  const auto read = interleaved({"0: ", "1: "}, one_gpu);
  ASSERT_EQ(read.size(), 1U) << "nccl-tests without MPI";
  EXPECT_TRUE(read[0].interleaved);
  EXPECT_EQ(read[0].devices.size(), 2U);
}

TEST(NcclTestsText, OfOneJobMostRanksHaveLabelsWithoutATable) {
  const auto read = tables(prefixed(whole_log(), " 0: ") +
                           "11: n2:1:2 [0] NCCL INFO Using network IB\nsrun: error: n2: task 11: Killed\n");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].facts.network->value, "IB");
}

TEST(NcclTestsText, WhatACommandSetsIsInTheEnvironment) {
  const std::string shell =
      "$ export NCCL_ALGO=Ring\nmpirun -np 2 \\\n -x NCCL_IB_DISABLE=1 \\\n ./build/all_reduce_perf -g 1\n";
  const auto read = tables(shell + whole_log());
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].environment,
            (std::map<std::string, std::string>{{"NCCL_ALGO", "Ring"}, {"NCCL_IB_DISABLE", "1"}}));
}

TEST(NcclTestsText, AnExportIsOfWhatRunsAfterIt) {
  const auto said = [](const std::string& text, std::size_t at) { return tables(text).at(at).environment; };
  const std::string two = whole_log() + "$ export NCCL_IB_DISABLE=1\n" + whole_log();
  EXPECT_TRUE(said(two, 0).empty());
  EXPECT_EQ(said(two, 1).count("NCCL_IB_DISABLE"), 1U);
  EXPECT_EQ(said("[u@n ~]$ export NCCL_ALGO='Ring';\n" + whole_log(), 0).at("NCCL_ALGO"), "Ring");
  EXPECT_EQ(said("export NCCL_ALGO=Ring\nexport NCCL_ALGO=Tree\n" + whole_log(), 0).at("NCCL_ALGO"), "Tree");
  for (const char* not_set : {"# export NCCL_ALGO=Ring\n", "Do not export NCCL_ALGO=Ring.\n",
                              "export NCCL_ALGO=Ring\nunset NCCL_ALGO\n"})
    EXPECT_TRUE(said(not_set + whole_log(), 0).empty()) << not_set;
  EXPECT_TRUE(said(whole_log() + "export NCCL_ALGO=Ring\n", 0).empty());
  const std::string found = "n1:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Tree\n";
  EXPECT_EQ(said("mpirun -x NCCL_ALGO=Ring ./all_reduce_perf\n" + found + whole_log(), 0).at("NCCL_ALGO"),
            "Tree");
}

/// Those who paste a log leave lines out: its last ones say that it came to its end.
TEST(NcclTestsText, EachOfItsLastLinesEndsATable) {
  const std::string cut = whole_log().substr(0, whole_log().find("# Out of bounds"));
  ASSERT_EQ(tables(cut).size(), 1U);
  EXPECT_FALSE(tables(cut)[0].ended);
  for (const char* line : {"# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 1.25",
                           "# Collective test concluded: all_reduce_perf"})
    EXPECT_TRUE(tables(cut + line + "\n")[0].ended) << line;
}

TEST(NcclTestsText, HowAProgramDied) {
  const auto failure = [](const std::string& log) {
    const auto read = tables(log);
    return read.empty() || !read.back().failure ? "" : read.back().failure->value;
  };
  const std::string cut = whole_log().substr(0, whole_log().find("# Out of bounds"));
  for (const char* line :
       {"n18: Test CUDA failure common.cu:393 'uncorrectable ECC error encountered'",
        ".. n18 pid 5714: Test failure common.cu:421", "n18: Test timeout (60s) common.cu:470"}) {
    EXPECT_EQ(failure(cut + line + "\n"), line);
    EXPECT_EQ(failure(whole_log() + line + "\n"), line) << "also where it ends its communicators";
  }
  for (const char* line :
       {"srun: error: n18: task 9: Out Of Memory", "srun: error: Node failure on n18",
        "mpirun noticed that process rank 9 with PID 5712 on node n18 exited on signal 9 (Killed)."}) {
    EXPECT_EQ(failure(cut + line + "\n"), line);
    EXPECT_EQ(failure(whole_log() + line + "\n"), "") << "of another program";
    EXPECT_EQ(failure(std::string(line) + "\n" + whole_log()), "") << "of another program";
  }
  EXPECT_EQ(failure(cut + "srun: error: Unable to create step: Requested nodes are busy\n"), "");
}

}  // namespace
}  // namespace collbench::analysis::nccl_tests_text_test
