#include "analysis/hang/pytorch_dump.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "tests/source_folder.hpp"
#include "tests/topology/doctor/group_timeout.hpp"

namespace collbench::analysis::pytorch_dump_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string entry(int call, const std::string& state, const std::string& operation = "all_reduce",
                  int length = 1024) {
  return fmt::format(
      R"({{"record_id":{0},"pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":{0},"p2p_seq_id":0,"op_id":{0},)"
      R"("profiling_name":"nccl:{2}","time_created_ns":17,"input_sizes":[[{3},4]],"input_dtypes":["Float"],)"
      R"("output_sizes":[[{3},4]],"output_dtypes":["Float"],"state":"{1}","time_discovered_started_ns":0,)"
      R"("time_discovered_completed_ns":0,"retired":false,"timeout_ms":600000,"is_p2p":false}})",
      call, state, operation, length);
}

/// A rank's dump as PyTorch's dump_json writes it; three ranks.
HangDump dump(int rank, const std::string& entries) {
  return {
      fmt::format("/tmp/nccl_trace_rank_{}", rank),
      fmt::format(
          R"({{"version":"2.10","nccl_version":"2.27.7","pg_config":{{"0":{{"name":"0","desc":"default_pg",)"
          R"("ranks":"[0, 1, 2]"}}}},"pg_status":{{"0":{{"last_enqueued_collective":"-1",)"
          R"("last_started_collective":"-1","last_completed_collective":"-1"}}}},"entries":[{}]}})",
          entries)};
}

const std::string kDone = entry(411, "completed");

std::vector<Communicator> read_pytorch_dumps(const std::vector<HangDump>& dumps) {
  PytorchDumps read;
  for (const HangDump& each : dumps) EXPECT_TRUE(read.add(each));
  return read.groups();
}

TEST(PytorchDump, ARankThatSkippedACallIsNamedWithWhoWaits) {
  const auto groups = read_pytorch_dumps({dump(0, kDone + "," + entry(412, "started")), dump(1, kDone),
                                          dump(2, kDone + "," + entry(412, "started"))});
  ASSERT_EQ(groups.size(), 1U);
  const HangFinding found = find_hang(groups[0]);
  EXPECT_EQ(found.cause, HangCause::rank_behind);
  EXPECT_THAT(found.ranks, ElementsAre(1));
  EXPECT_EQ(
      found.text,
      "group 0 (default_pg): rank 1 has begun 411 collective calls, others 412; ranks 0, 2 wait in call 412, "
      "all_reduce (1024x4 Float)");
}

TEST(PytorchDump, ARankWithoutADumpIsNamed) {
  const auto groups = read_pytorch_dumps({dump(0, entry(412, "started")), dump(1, entry(412, "scheduled"))});
  const HangFinding found = find_hang(groups.at(0));
  EXPECT_EQ(found.cause, HangCause::rank_missing);
  EXPECT_THAT(found.ranks, ElementsAre(2));
  EXPECT_EQ(
      found.text,
      "group 0 (default_pg): rank 2 left nothing of this group here; ranks 0, 1 wait in call 412, all_reduce "
      "(1024x4 "
      "Float)");
}

TEST(PytorchDump, RanksInDifferentOperationsAreNamed) {
  for (const std::string& other :
       {entry(412, "started", "all_gather"), entry(412, "started", "all_reduce", 1000)}) {
    const auto groups =
        read_pytorch_dumps({dump(0, entry(412, "started")), dump(1, other), dump(2, entry(412, "started"))});
    const HangFinding found = find_hang(groups.at(0));
    EXPECT_EQ(found.cause, HangCause::calls_differ);
    EXPECT_THAT(found.ranks, ElementsAre(1));
    EXPECT_THAT(found.text, HasSubstr("ranks 0, 2 in call 412, all_reduce (1024x4 Float)"));
  }
}

TEST(PytorchDump, SizesThatMayDifferAreNoDifference) {
  for (const char* operation : {"all_to_all", "all_to_allv", "scatter"}) {
    std::vector<HangDump> dumps;
    for (int rank = 0; rank < 3; ++rank)
      dumps.push_back(dump(rank, entry(412, "started", operation, 1000 + rank)));
    const HangFinding found = find_hang(read_pytorch_dumps(dumps).at(0));
    EXPECT_EQ(found.cause, HangCause::not_seen_here);
    EXPECT_THAT(found.ranks, IsEmpty());
    EXPECT_EQ(found.text,
              fmt::format("group 0 (default_pg): ranks 0-2 all wait in call 412, {}: a link, a GPU "
                          "or a library hangs",
                          operation));
  }
}

TEST(PytorchDump, CallsThatAllDifferAreSaidOfTheirOwnRanks) {
  const HangFinding found = find_hang(
      read_pytorch_dumps({dump(0, entry(412, "started")), dump(1, entry(412, "started", "all_reduce", 7)),
                          dump(2, entry(412, "started", "broadcast"))})
          .at(0));
  EXPECT_EQ(found.cause, HangCause::calls_differ);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_EQ(found.text,
            "group 0 (default_pg): rank 0 is in call 412, all_reduce (1024x4 Float), rank 1 in call 412, "
            "all_reduce (7x4 Float), rank 2 in call 412, broadcast (1024x4 Float)");
}

TEST(PytorchDump, RanksThatWaitInDifferentCallsAreSaidOneByOne) {
  const std::vector<HangDump> dumps{dump(0, entry(5, "started")), dump(1, entry(7, "started", "broadcast"))};
  EXPECT_EQ(
      find_hang(read_pytorch_dumps(dumps).at(0)).text,
      "group 0 (default_pg): rank 2 left nothing of this group here; rank 0 waits in call 5, all_reduce "
      "(1024x4 Float), "
      "rank 1 waits in call 7, broadcast (1024x4 Float)");
}

TEST(PytorchDump, ACallThatAllAreInBlamesNoRank) {
  const std::string both = entry(412, "started") + "," + entry(413, "scheduled");
  const auto groups = read_pytorch_dumps({dump(2, both), dump(0, both), dump(1, both)});
  EXPECT_EQ(groups.at(0).members.at(2).call, 412U) << "the first one that has not ended";
  const HangFinding found = find_hang(groups.at(0));
  EXPECT_EQ(found.cause, HangCause::not_seen_here);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_THAT(found.text, HasSubstr("ranks 0-2 all wait in call 412"));
}

TEST(PytorchDump, WithoutTheGroupsRanksOneOfThemMayBeMissing) {
  const auto without_config = [](int rank) {
    HangDump made = dump(rank, entry(5, "started"));
    made.text.replace(made.text.find("pg_config"), 9, "pg_unused");
    return made;
  };
  EXPECT_THAT(find_hang(read_pytorch_dumps({without_config(0), without_config(2)}).at(0)).text,
              HasSubstr("ranks 0, 2 all wait in call 5, all_reduce (1024x4 Float): a rank that left nothing "
                        "of this group here, a link"));
}

TEST(PytorchDump, ACallThatEndedElsewhereNamesWhereItDidNot) {
  const auto groups = read_pytorch_dumps({dump(0, kDone), dump(1, entry(411, "started")), dump(2, kDone)});
  const HangFinding found = find_hang(groups.at(0));
  EXPECT_THAT(found.ranks, ElementsAre(1));
  EXPECT_THAT(found.text, HasSubstr("rank 1 has not ended call 411"));
}

TEST(PytorchDump, SendsAndReceivesAreNotTakenForCallsOfAll) {
  std::string p2p = entry(412, "started", "send 0->1");
  p2p.replace(p2p.find("\"is_p2p\":false"), 14, "\"is_p2p\":true");
  const auto groups = read_pytorch_dumps({dump(0, kDone + "," + p2p), dump(1, kDone), dump(2, kDone)});
  EXPECT_EQ(find_hang(groups.at(0)).cause, HangCause::not_known);
}

/// Numbers and lists as the pickled form has them, once it is JSON.
TEST(PytorchDump, ThePickledFormsNumbersAreRead) {
  HangDump one = dump(0, "");
  one.text =
      R"({"pg_config":{"0":{"desc":"default_pg","ranks":"[0, 1]"}},"pg_status":{"0":{"last_enqueued_collective":7}}})";
  const HangDump other = dump(1, entry(8, "scheduled"));
  const HangFinding found = find_hang(read_pytorch_dumps({one, other}).at(0));
  EXPECT_EQ(found.cause, HangCause::rank_behind);
  EXPECT_THAT(found.text, HasSubstr("rank 0 has begun 7 collective calls, others 8"));
  EXPECT_THAT(found.text, HasSubstr("rank 2 left nothing of this group here"))
      << "the other one has it that there is one";
  EXPECT_EQ(read_pytorch_dumps({one, other}).at(0).members.at(0).calls(), 7U);
}

TEST(PytorchDump, WhatIsNoneIsRefusedWithTheReason) {
  const auto refusal = [](const HangDump& dump) -> std::string {
    try {
      PytorchDumps read;
      static_cast<void>(read.add(dump));
      static_cast<void>(read.groups());
    } catch (const Error& error) {
      return describe(error);
    }
    return "";
  };
  EXPECT_THAT(refusal({"nccl_trace_rank_0", "\x80\x02}q"}),
              HasSubstr("is a pickle, which may run any program"));
  EXPECT_FALSE(PytorchDumps().add({"/etc/passwd", "root:x:0:0"}));
  EXPECT_THAT(refusal({"nccl_trace_rank_0", "{}"}), HasSubstr("names no process group"));
  EXPECT_THAT(refusal({"trace.json", dump(0, kDone).text}),
              HasSubstr("does not end with the number of the rank"));
  for (const char* text :
       {"{", "{\"entries\": 3}", "{\"entries\": [{\"process_group\": []}]}", "{\"pg_config\": {\"0\": 1}}",
        "{\"pg_config\": {\"0\": {\"ranks\": \"[0, x]\"}}}"}) {
    EXPECT_NE(refusal({"nccl_trace_rank_0", text}), "") << text;
  }
  EXPECT_THROW(static_cast<void>(read_pytorch_dumps({dump(0, kDone), dump(0, kDone)})), Error);
}

/// What PyTorch 2.11 wrote on an H200 (2026-11-27) where rank 1 called AllGather and rank 0 AllReduce: rank 0
/// had an error, and rank 1 waited.
TEST(PytorchDump, ARankWithAnErrorHasNotEndedWhatOthersWaitIn) {
  const auto log = [](int rank) {
    const std::string file =
        fmt::format("{}/tests/analysis/hang/answers/pytorch_mismatch_rank{}.log", source_folder(), rank);
    return HangDump{file, read_file(file)};
  };
  const HangFinding found = find_hang(read_pytorch_dumps({log(0), log(1)}).at(0));
  EXPECT_EQ(found.cause, HangCause::rank_failed);
  EXPECT_THAT(found.ranks, ElementsAre(0));
  EXPECT_THAT(found.text, HasSubstr("rank 0 reports: NCCL error: invalid usage"));
  EXPECT_THAT(found.text, HasSubstr("message truncated : receiving 1048576 bytes instead of 65536"));
  EXPECT_THAT(found.text, HasSubstr("; rank 1 waits in call 21, ALLGATHER (1048576 elements)"));
}

std::string timed_out(int rank, int call, const std::string& operation) {
  return fmt::format(
      "[rank{0}]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught collective operation "
      "timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn=7, NumelOut=7, Timeout(ms)=600000) ran for 600020 "
      "milliseconds before timing out.\n",
      rank, call, operation);
}

std::string stands_at(int rank, int enqueued, int completed) {
  return fmt::format(
      "[rank{0}]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank {0}]  "
      "failure "
      "detected by watchdog at work sequence id: 9 PG status: last enqueued work: {1}, last completed work: "
      "{2}\n",
      rank, enqueued, completed);
}

/// How much more one has given to NCCL than another says nothing where all wait in one call.
TEST(PytorchLogs, WhereAllWaitInOneCallNobodyIsBehind) {
  const auto groups = read_pytorch_dumps(
      {{"a.log", timed_out(1, 42, "ALLREDUCE") + stands_at(1, 45, 41) + timed_out(0, 42, "ALLREDUCE")}});
  ASSERT_EQ(groups.size(), 1U);
  const HangFinding found = find_hang(groups[0]);
  EXPECT_EQ(found.cause, HangCause::not_seen_here);
  EXPECT_EQ(found.text,
            "group 0 (default_pg): ranks 0, 1 all wait in call 42, ALLREDUCE (7 elements): a rank that left "
            "nothing of this group here, a link, a GPU or a library hangs");
}

TEST(PytorchLogs, WhoIsMissingInAGroupFollowsFromTheOthersNumbersInIt) {
  std::string log;
  for (const int number : {0, 1, 3}) log += group_timed_out_in_nine(number + 4, number);
  const HangFinding found = find_hang(read_pytorch_dumps({{"a.log", log}}).at(0));
  EXPECT_EQ(found.cause, HangCause::rank_missing);
  EXPECT_EQ(
      found.text,
      "group 12 (tp): rank 6 left nothing of this group here; ranks 4, 5, 7 wait in call 9, ALLREDUCE (7 "
      "elements)");
}

TEST(PytorchLogs, TheLogsOfAllRanksNameWhoIsBehindAndWhereTheyDisagree) {
  const HangDump first{"rank0.log", timed_out(0, 42, "ALLREDUCE") + stands_at(0, 45, 41)};
  const HangFinding behind =
      find_hang(read_pytorch_dumps({first, {"rank3.log", stands_at(3, 41, 41)}}).at(0));
  EXPECT_EQ(behind.cause, HangCause::rank_behind);
  EXPECT_THAT(behind.ranks, ElementsAre(3));
  EXPECT_EQ(behind.text,
            "group 0 (default_pg): rank 3 has begun 41 collective calls, others 42; rank 0 waits in call 42, "
            "ALLREDUCE (7 elements); ranks 1, 2 left nothing of this group here");
  const HangFinding differ = find_hang(
      read_pytorch_dumps({first, {"rank1.log", timed_out(1, 42, "BROADCAST") + stands_at(1, 42, 41)}}).at(0));
  EXPECT_EQ(differ.cause, HangCause::calls_differ);
  EXPECT_THAT(differ.text, HasSubstr("in call 42, BROADCAST"));
}

/// A job that was started again, and whose rank 1 wrote only in the first hang.
TEST(PytorchLogs, OfSeveralIncidentsInTheLogsOfRanksTheLastCounts) {
  const auto at = [](const char* time, std::string line) {
    return line.replace(line.find("06:24:44"), 8, time);
  };
  const auto log = [&](int rank, bool again) {
    std::string text =
        at("06:24:44", timed_out(rank, 6, "ALLREDUCE")) + at("06:24:44", stands_at(rank, 6, 5));
    if (again)
      text += at("11:24:44", timed_out(rank, 3, "ALLREDUCE")) + at("11:24:44", stands_at(rank, 3, 2));
    return HangDump{fmt::format("rank{}.log", rank), text};
  };
  const HangFinding found = find_hang(read_pytorch_dumps({log(0, true), log(1, false), log(2, true)}).at(0));
  EXPECT_EQ(found.cause, HangCause::rank_missing);
  EXPECT_THAT(found.ranks, ElementsAre(1));
  EXPECT_THAT(found.text, HasSubstr("ranks 0, 2 wait in call 3"));
}

TEST(PytorchLogs, DumpsAndLogsAreOneGroup) {
  const HangDump log{"job.log",
                     timed_out(0, 412, "ALLREDUCE") + stands_at(0, 412, 411) + stands_at(2, 411, 411)};
  const auto groups =
      read_pytorch_dumps({log, dump(0, kDone + "," + entry(412, "started")), dump(1, entry(412, "started"))});
  ASSERT_EQ(groups.size(), 1U);
  const HangFinding found = find_hang(groups[0]);
  EXPECT_EQ(found.cause, HangCause::rank_behind) << found.text;
  EXPECT_THAT(found.ranks, ElementsAre(2));
  EXPECT_THAT(found.text, HasSubstr("ranks 0, 1 wait in call 412, all_reduce (1024x4 Float)"));
}

/// "_ALLGATHER_BASE" of a log is "_all_gather_base" of a dump.
TEST(PytorchLogs, ACallHasOneNameInDumpsAndLogs) {
  const auto finding = [](const std::string& of_dump, const std::string& of_log) {
    const auto groups = read_pytorch_dumps({{"job.log", timed_out(2, 412, of_log) + stands_at(2, 412, 411)},
                                            dump(0, entry(412, "started", of_dump)),
                                            dump(1, entry(412, "started", of_dump))});
    return find_hang(groups.at(0)).cause;
  };
  EXPECT_EQ(finding("_all_gather_base", "_ALLGATHER_BASE"), HangCause::not_seen_here);
  EXPECT_EQ(finding("all_reduce", "BROADCAST"), HangCause::calls_differ);
}

TEST(PytorchLogs, ALogOfAContainerIsRead) {
  const std::string line = timed_out(0, 42, "ALLREDUCE");
  const auto groups = read_pytorch_dumps(
      {{"pod.log",
        fmt::format(R"({{"log":"{}\n","stream":"stderr"}})", line.substr(0, line.size() - 1)) + "\n"}});
  EXPECT_THAT(find_hang(groups.at(0)).text, HasSubstr("waits in call 42, ALLREDUCE"));
}

TEST(PytorchLogs, ALogWithoutATimeoutIsNone) {
  EXPECT_FALSE(PytorchDumps().add({"job.log", "step 1 loss 0.3\n"}));
}

}  // namespace
}  // namespace collbench::analysis::pytorch_dump_test
