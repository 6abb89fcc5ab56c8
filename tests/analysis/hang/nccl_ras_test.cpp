#include "analysis/hang/nccl_ras.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "base/files.hpp"
#include "tests/source_folder.hpp"

namespace collbench::analysis::nccl_ras_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What NCCL answered over simulated GPUs while rank 2 of 4 was stopped: 2.32.3 as JSON, 2.27.7 as text.
HangDump answer(const std::string& name) {
  const std::string file = source_folder() + "/tests/analysis/hang/answers/" + name;
  return {file, read_file(file)};
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

HangFinding finding_of(const std::string& text) { return find_hang(read_nccl_ras({"answer", text}).at(0)); }

TEST(NcclRas, NamesTheRankThatDoesNotAnswer) {
  for (const char* name : {"ras_stopped_rank.json", "ras_stopped_rank.txt"}) {
    const HangDump dump = answer(name);
    EXPECT_TRUE(is_nccl_ras(dump.text)) << name;
    const auto communicators = read_nccl_ras(dump);
    ASSERT_EQ(communicators.size(), 1U) << name;
    EXPECT_EQ(communicators[0].size, 4) << name;
    const HangFinding found = find_hang(communicators[0]);
    EXPECT_EQ(found.cause, HangCause::rank_missing) << name;
    EXPECT_THAT(found.ranks, ElementsAre(2)) << name;
    EXPECT_THAT(found.text, HasSubstr("rank 2 (192.0.2.2, process 22")) << name;
  }
}

/// Of NCCL 2.28.9 on an H200 (2026-11-27), where rank 1 called AllGather and rank 0 AllReduce.
TEST(NcclRas, NamesRanksThatCalledDifferentOperations) {
  for (const char* name : {"ras_mismatch.json", "ras_mismatch.txt"}) {
    const HangFinding found = find_hang(read_nccl_ras(answer(name)).at(0));
    EXPECT_EQ(found.cause, HangCause::calls_differ) << name;
    EXPECT_THAT(found.text,
                HasSubstr("rank 0 (192.0.2.2, process 725) has begun 21 AllReduce; rank 1 (192.0.2.2, "
                          "process 726) has begun 1 AllGather, 20 AllReduce"))
        << name;
    EXPECT_THAT(found.text, HasSubstr("reports: ")) << name;
  }
}

/// 2.28.7 to 2.29.1 leave a comma out.
TEST(NcclRas, JsonWithoutACommaBehindAMissingRankIsRead) {
  const std::string text = answer("ras_stopped_rank.json").text;
  const std::size_t missing = text.find("\"missing_ranks\": [");
  const std::size_t number = text.find("\"nvml_dev\"", missing);
  std::string without = text;
  without.erase(text.find(',', number), 1);
  EXPECT_EQ(finding_of(without).text, finding_of(text).text);
}

TEST(NcclRas, JsonHasTheCallsOfEachRank) {
  const std::string text = answer("ras_stopped_rank.json").text;
  const Communicator communicator = read_nccl_ras({"answer", text}).at(0);
  EXPECT_EQ(communicator.name, "communicator 0xfb2935ad32dab8af");
  ASSERT_EQ(communicator.members.size(), 4U);
  EXPECT_EQ(communicator.members[3].begun.at("AllReduce"), 67U);
  EXPECT_EQ(communicator.members[3].pid, 22239);
  EXPECT_THAT(finding_of(changed(text, "\"AllReduce\": 67", "\"AllReduce\": 66")).text, HasSubstr("rank 2"))
      << "who does not answer comes before who is behind";
  EXPECT_THAT(finding_of(changed(text, "\"unresponsive\": true", "\"unresponsive\": false")).text,
              HasSubstr("rank 2 (192.0.2.2, process 22238) answers, and does not have this communicator"));
  EXPECT_EQ(finding_of(changed(text, "\"considered_dead\": false", "\"considered_dead\": true")).cause,
            HangCause::rank_gone);
  const HangFinding failed = finding_of(changed(text, "\"async_error\": 0", "\"async_error\": 6"));
  EXPECT_EQ(failed.cause, HangCause::rank_failed);
  EXPECT_THAT(failed.ranks, ElementsAre(0));
  EXPECT_THAT(failed.text, HasSubstr("rank 0 (192.0.2.2, process 22236) reports: remote process error"));
}

TEST(NcclRas, JsonOfAGroupThatIsNotThereBlamesNobody) {
  const std::string text = answer("ras_stopped_rank.json").text;
  for (const char* to : {"\"size\": 0", "\"size\": 2"}) {
    const HangFinding found = finding_of(changed(text, "\"size\": 4", to));
    EXPECT_EQ(found.cause, HangCause::not_known) << to;
    EXPECT_THAT(found.ranks, IsEmpty()) << to;
    EXPECT_THAT(found.text, HasSubstr("is nonsense")) << to;
  }
  const HangFinding below = finding_of(changed(text, "\"rank\": 3", "\"rank\": -3"));
  EXPECT_THAT(below.ranks, IsEmpty());
  EXPECT_THAT(below.text, testing::EndsWith("rank -3 of 4 ranks is nonsense that NCCL's RAS writes"));
}

TEST(NcclRas, WhoReportsTheSymptomIsNotBlamedForTheCause) {
  std::string text = answer("ras_stopped_rank.json").text;
  for (const char* error : {"6", "1", "6"})  // of ranks 0, 1, 3: one GPU fails, the others hear of it
    text = changed(text, "\"async_error\": 0", std::string("\"async_error\": ") + error);
  const HangFinding found = finding_of(text);
  EXPECT_EQ(found.cause, HangCause::rank_failed);
  EXPECT_THAT(found.ranks, ElementsAre(1));
  EXPECT_EQ(
      found.text,
      "communicator 0xfb2935ad32dab8af: rank 1 (192.0.2.2, process 22237) reports: unhandled CUDA error; "
      "ranks 0, 3 report: remote process error");
}

// The words of NCCL 2.32.3, src/ras/client_support.cc.
constexpr const char* kMismatch =
    "Job summary\nNCCL version 2.27.7 compiled with CUDA 12.9\n"
    "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
    "    0         1         2         4         8         8   RUNNING  MISMATCH\n"
    "Warnings\n========\n\n"
    "#0-0 (50d873d91b3011da) MISMATCH\n"
    "  Communicator ranks have different AllReduce operation counts\n";

TEST(NcclRas, TextNamesTheRanksThatAreBehindTheOthers) {
  const std::string one =
      std::string(kMismatch) +
      "  7 ranks have launched up to operation 67\n"
      "  Rank 5 has launched up to operation 66 -- GPU 1 managed by process 12 on node 192.0.2.3\n\n";
  HangFinding found = finding_of(one);
  EXPECT_EQ(found.cause, HangCause::rank_behind);
  EXPECT_THAT(found.ranks, ElementsAre(5));
  EXPECT_EQ(
      found.text,
      "communicator 0x50d873d91b3011da: rank 5 (192.0.2.3, process 12) has begun 66 AllReduce, others 67");
  const std::string two = std::string(kMismatch) +
                          "  6 ranks have launched up to operation 67\n"
                          "  2 ranks have not launched any operations\n"
                          "  Rank 4 -- GPU 0 managed by process 11 on node 192.0.2.3\n"
                          "  Rank 5 -- GPU 1 managed by process 12 on node 192.0.2.3\n\n";
  found = finding_of(two);
  EXPECT_THAT(found.ranks, ElementsAre(4, 5));
  EXPECT_THAT(found.text, HasSubstr("ranks 4, 5 have begun 0 AllReduce, others 67"));
}

TEST(NcclRas, TextNamesErrors) {
  const std::string error =
      changed(kMismatch, "MISMATCH\n  Communicator ranks have different AllReduce operation counts\n",
              "ERROR\n  Asynchronous error on 1 rank\n"
              "  Rank 3 reported Remote process error -- GPU 3 managed by process 9 on node 192.0.2.2\n");
  const HangFinding found = finding_of(error);
  EXPECT_EQ(found.cause, HangCause::rank_failed);
  EXPECT_THAT(found.text, HasSubstr("rank 3 (192.0.2.2, process 9) reports: Remote process error"));
}

TEST(NcclRas, TextNamesTheRanksWithAnotherStatus) {
  const std::string status =
      changed(kMismatch, "different AllReduce operation counts\n",
              "different status\n  7 ranks have status RUNNING\n"
              "  Rank 3 has status ABORT -- GPU 3 managed by process 9 on node 192.0.2.2\n");
  EXPECT_EQ(
      finding_of(status).text,
      "communicator 0x50d873d91b3011da: rank 3 (192.0.2.2, process 9) reports: status ABORT, others RUNNING");
  EXPECT_THAT(finding_of(changed(status, "ABORT", "NOCOMM")).text,
              HasSubstr("rank 3 (192.0.2.2, process 9) answers, and does not have this communicator"));
}

TEST(NcclRas, NothingIsFoundWhereRanksDoNotDiffer) {
  const std::string healthy =
      changed(std::string(kMismatch).substr(0, std::string(kMismatch).find("Warnings")), "MISMATCH", "OK");
  const HangFinding found = finding_of(healthy);
  EXPECT_EQ(found.cause, HangCause::not_known);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_EQ(found.text, "communicators of group 0: no rank differs from the others");
  EXPECT_THAT(finding_of(changed(healthy, "RUNNING", "INIT")).text, HasSubstr("NCCL has them in INIT"));
}

// Cut off before its warnings; without the ranks, as where half of them differ; with a line in other words.
TEST(NcclRas, WhatNcclSaysIsWrongIsNoAllClearWhereItListsNoRank) {
  const std::string cut = std::string(kMismatch).substr(0, std::string(kMismatch).find("Warnings"));
  const std::string halves = std::string(kMismatch) +
                             "  4 ranks have launched up to operation 67\n"
                             "  4 ranks have launched up to operation 66\n";
  const std::string unknown = std::string(kMismatch) +
                              "  7 ranks have launched up to operation 67\n"
                              "  1 rank is at 66\n";
  const std::string same =
      std::string(kMismatch) +
      "  7 ranks have launched up to operation 67\n"
      "  Rank 5 has launched up to operation 67 -- GPU 1 managed by process 12 on node 192.0.2.3\n";
  for (const std::string& text : {cut, halves, unknown, same}) {
    const HangFinding found = finding_of(text);
    EXPECT_EQ(found.cause, HangCause::not_known) << text;
    EXPECT_THAT(found.text, HasSubstr(": NCCL says MISMATCH, and which ranks that is of cannot be told"))
        << text;
  }
}

TEST(NcclRas, AGroupOfWhichNothingIsListedIsNotLost) {
  const std::string two = changed(
      answer("ras_stopped_rank.txt").text, "RUNNING  INCOMPLETE\n",
      "RUNNING  INCOMPLETE\n    1         1         1         4         4         4   RUNNING  MISMATCH\n");
  const auto communicators = read_nccl_ras({"answer", two});
  ASSERT_EQ(communicators.size(), 2U);
  EXPECT_THAT(find_hang(communicators[0]).ranks, ElementsAre(2));
  EXPECT_THAT(find_hang(communicators[1]).text, HasSubstr("communicators of group 1: NCCL says MISMATCH"));
}

TEST(NcclRas, WhatIsNoAnswerIsRefused) {
  EXPECT_FALSE(is_nccl_ras(""));
  EXPECT_FALSE(is_nccl_ras("NCCL version 2.27.7"));
  EXPECT_FALSE(is_nccl_ras("{\"entries\": []}"));
  for (const char* text : {"{\"communicators\": 3}", "{\"communicators\": [{}]}", "{\"communicators\"",
                           "Job summary NCCL version"})
    EXPECT_THROW(static_cast<void>(read_nccl_ras({"answer", text})), Error) << text;
}

}  // namespace
}  // namespace collbench::analysis::nccl_ras_test
