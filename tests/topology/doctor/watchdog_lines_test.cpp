#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/doctor/group_timeout.hpp"
#include "tests/topology/doctor/log_check_cases.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology::watchdog_lines_test {
namespace {

using testing::HasSubstr;

std::string timed_out(int rank, int sequence, const std::string& operation, int elements) {
  return fmt::format(
      "[rank{0}]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught collective operation "
      "timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn={3}, NumelOut={3}, Timeout(ms)=600000) ran for "
      "600020 milliseconds before timing out.\n",
      rank, sequence, operation, elements);
}

/// 2.5, and 2.6 and newer.
std::string stands_at(int rank, int enqueued, int completed) {
  return fmt::format(
      "[rank{0}]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank {0}] "
      "Exception (either an error or timeout) detected by watchdog at work: 9, last enqueued NCCL work: {1}, "
      "last completed NCCL work: {2}.\n",
      rank, enqueued, completed);
}
std::string stands_at_now(int rank, int enqueued, int completed) {
  return fmt::format(
      "[rank{0}]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank {0}]  "
      "failure "
      "detected by watchdog at work sequence id: 9 PG status: last enqueued work: {1}, last completed work: "
      "{2}\n",
      rank, enqueued, completed);
}

std::string said_of(const std::string& log) {
  const Diagnosis diagnosis = diagnose(evidence_of({{"", log}}));
  EXPECT_THAT(found_codes(diagnosis), testing::ElementsAre("log-watchdog-timeout"));
  std::string all;
  for (const DoctorFinding& finding : diagnosis.findings)
    for (const DoctorObservation& seen : finding.observations) all += seen.what + "\n";
  return all;
}

TEST(WatchdogLines, WhereAllWaitInOneCallNobodyOfThemIsBehind) {
  const std::string said =
      said_of(timed_out(1, 42, "ALLREDUCE", 7) + stands_at(1, 45, 41) + timed_out(0, 42, "ALLREDUCE", 7));
  EXPECT_THAT(said, HasSubstr("ranks 0, 1 wait in ALLREDUCE 42 (7 elements)"));
  EXPECT_THAT(said, HasSubstr("ranks 0, 1 are not behind the others by their calls"));
}

TEST(WatchdogLines, TheFirstCollectiveOfAGroupMayBeTheWay) {
  EXPECT_THAT(said_of(timed_out(0, 1, "ALLGATHER", 7) + timed_out(1, 1, "ALLGATHER", 7)),
              HasSubstr("ranks 0, 1 wait in the first collective of this group"));
  EXPECT_THAT(said_of(timed_out(0, 2, "ALLGATHER", 7) + timed_out(1, 2, "ALLGATHER", 7)),
              testing::Not(HasSubstr("the first collective")));
}

TEST(WatchdogLines, PyTorchsDesyncReportNamesWhoDidNotCome) {
  const std::string said =
      said_of(timed_out(0, 4, "ALLREDUCE", 7) +
              "\t   - [0, 2] joined but didn't finish collective #4 (count from 1)\n"
              "\t     [1] finished collective #3, but didn't join collective #4 (count from 1)\n"
              "\t     [1] finished collective #3, but didn't join collective #4 (count from 1)\n"
              "\t - To our best knowledge, ranks [3, 5] are the lagging ranks that caused this timeout. They "
              "never joined any collectives\n");
  EXPECT_THAT(said, HasSubstr("ranks [1] finished collective 3 and did not join collective 4\n"));
  EXPECT_THAT(said, HasSubstr("ranks [3, 5] never joined a collective\n"));
  EXPECT_EQ(said.find("did not join"), said.rfind("did not join")) << "each rank's report says it";
  EXPECT_THAT(said, testing::Not(HasSubstr("[0, 2]")));
}

TEST(WatchdogLines, WhoNeverIssuedItIsBehind) {
  const std::string said =
      said_of(timed_out(0, 42, "ALLREDUCE", 7) + stands_at(0, 45, 41) + stands_at_now(3, 41, 41));
  EXPECT_THAT(said, HasSubstr("rank 3 never issued it"));
}

TEST(WatchdogLines, WhoWaitsInAnEarlierCallIsBehind) {
  const std::string said = said_of(timed_out(0, 42, "ALLREDUCE", 7) + timed_out(2, 40, "BROADCAST", 7));
  EXPECT_THAT(said, HasSubstr("rank 2 in the earliest is behind"));
}

TEST(WatchdogLines, OneCallThatIsTwoIsADisagreement) {
  EXPECT_THAT(said_of(timed_out(0, 42, "ALLREDUCE", 7) + timed_out(2, 42, "_ALLGATHER_BASE", 7)),
              HasSubstr("disagree"));
  EXPECT_THAT(said_of(timed_out(0, 42, "ALLREDUCE", 7) + timed_out(2, 42, "ALLREDUCE", 9)),
              HasSubstr("disagree"));
}

TEST(WatchdogLines, ABarrierAmongTheFirstCallsWaitsForWhoIsNotReady) {
  EXPECT_THAT(said_of(timed_out(0, 3, "ALLREDUCE", 1)), HasSubstr("a rank is late that still loads"));
  EXPECT_THAT(said_of(timed_out(0, 300, "ALLREDUCE", 1)), testing::Not(HasSubstr("loads")));
  EXPECT_THAT(said_of(timed_out(0, 3, "ALLREDUCE", 7)), testing::Not(HasSubstr("loads")));
  EXPECT_THAT(said_of(timed_out(0, 3, "SEND", 1)), testing::Not(HasSubstr("loads")));
  EXPECT_THAT(said_of(timed_out(0, 3, "ALLREDUCE", 1) + timed_out(1, 3, "BROADCAST", 9)),
              testing::Not(HasSubstr("loads")));
}

/// A rank that was told of another's timeout writes where it stands itself.
TEST(WatchdogLines, WhoHearsOfATimeoutSaysWhereItStands) {
  const auto heard = [](int enqueued) {
    return fmt::format(
        "[rank3]:[E105 06:24:45.1 ProcessGroupNCCL.cpp:684] [PG ID 0 PG GUID 0(default_pg) Rank 3] Received "
        "a dump "
        "signal due to a collective timeout from  rank 0 and we will try our best to dump the debug info. "
        "Last "
        "enqueued NCCL work: {0}, last completed NCCL work: {0}.This is most likely caused by incorrect "
        "usages\n",
        enqueued);
  };
  const std::string waits = timed_out(0, 42, "ALLREDUCE", 7) + stands_at(0, 45, 41);
  EXPECT_THAT(said_of(waits + heard(41)), HasSubstr("rank 3 never issued it"));
  EXPECT_THAT(said_of(waits + heard(-1)), HasSubstr("rank 3 never issued it"));
  EXPECT_THAT(said_of(waits + heard(42)), HasSubstr("rank 0 is not behind"));
}

/// A process in several groups: the line of a timeout is of the group that the next line of that call names.
TEST(WatchdogLines, ATimeoutIsOfTheGroupThatNamesItsCall) {
  const auto of_group = [](int rank, int group, int call) {
    return fmt::format(
        "[rank{0}]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:1785] [PG ID {1} PG GUID {1}(tp) Rank {0}] "
        "Exception "
        "(either an error or timeout) detected by watchdog at work: {2}, last enqueued NCCL work: {2}, last "
        "completed NCCL work: {3}.\n",
        rank, group, call, call - 1);
  };
  const std::string said =
      said_of(timed_out(0, 9, "ALLREDUCE", 7) + of_group(0, 1, 9) + timed_out(0, 42, "BROADCAST", 7) +
              of_group(0, 2, 42) + timed_out(1, 42, "BROADCAST", 7) + of_group(1, 2, 42));
  EXPECT_THAT(said, HasSubstr("rank 0 waits in ALLREDUCE 9"));
  EXPECT_THAT(said, HasSubstr("ranks 0, 1 wait in BROADCAST 42"));
}

/// A group of ranks 4 to 7 of all, of which the third never came: its number follows from the others'.
TEST(WatchdogLines, WhoIsMissingInAGroupIsNamedByTheNumbersOfTheOthers) {
  const auto waits = group_timed_out_in_nine;
  EXPECT_THAT(said_of(waits(4, 0) + waits(5, 1) + waits(7, 3)),
              HasSubstr("by their calls: rank 6, which left nothing of this group here, or a link or a GPU"));
  EXPECT_THAT(said_of(waits(1, 0) + waits(9, 1) + waits(25, 3)), HasSubstr("rank 17, which left"));
  // Steps that are not equal; below the first number; and the third is there, without a timeout.
  for (const std::string& unknown : {waits(4, 0) + waits(7, 3), waits(4, 0) + waits(5, 1) + waits(8, 3),
                                     waits(5, 1) + waits(6, 2) + waits(7, 3),
                                     waits(4, 0) + waits(5, 1) + group_stands_at_nine(6, 2) + waits(7, 3)})
    EXPECT_THAT(said_of(unknown), HasSubstr("by their calls: a rank that left nothing of this group here"));
}

/// The same call number in two groups, as in a job that hangs in its first call.
TEST(WatchdogLines, OneNumberInTwoGroupsIsOfBoth) {
  const auto of_group = [](int rank, const char* group) {
    return fmt::format(
        "[rank{0}]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID {1} Rank {0}]  failure "
        "detected "
        "by watchdog at work sequence id: 1 PG status: last enqueued work: 1, last completed work: 0\n",
        rank, group);
  };
  std::string log;
  for (const int rank : {0, 1})
    log += timed_out(rank, 1, "ALLREDUCE", 4) + of_group(rank, "0(default_pg)") +
           timed_out(rank, 1, "_ALLGATHER_BASE", 9) + of_group(rank, "2(tp)");
  const std::string said = said_of(log);
  EXPECT_THAT(said, HasSubstr("ranks 0, 1 wait in ALLREDUCE 1 (4 elements)"));
  EXPECT_THAT(said, HasSubstr("ranks 0, 1 wait in _ALLGATHER_BASE 1 (9 elements)"));
}

TEST(WatchdogLines, SizesOfAnExchangeAndTheTwoSidesOfASendAreNoDisagreement) {
  for (const char* operation : {"ALLTOALL_BASE", "SCATTER", "COALESCED"})
    EXPECT_THAT(said_of(timed_out(0, 42, operation, 7) + timed_out(2, 42, operation, 9)),
                HasSubstr("are not behind"))
        << operation;
  EXPECT_THAT(said_of(timed_out(0, 42, "SEND", 7) + timed_out(2, 41, "RECV", 7)),
              HasSubstr("do not name the other one"));
}

std::string at(const char* time, std::string line) { return line.replace(line.find("06:24:44"), 8, time); }

/// torchrun starts a job again, in the same log.
TEST(WatchdogLines, IncidentsOfAJobThatWasStartedAgainStayApart) {
  std::string log;
  for (const int rank : {0, 1})
    log +=
        at("06:24:44", timed_out(rank, 808, "ALLREDUCE", 7)) + at("06:24:44", stands_at_now(rank, 811, 807));
  log += at("06:24:45", stands_at_now(2, 807, 807));
  for (const int rank : {0, 2})
    log += at("07:24:44", timed_out(rank, 55, "ALLREDUCE", 7)) + at("07:24:44", stands_at_now(rank, 58, 54));
  log += at("07:24:45", stands_at_now(1, 54, 54));
  const std::string said = said_of(log);
  EXPECT_THAT(said,
              HasSubstr("incident 1 of 2: ranks 0, 1 wait in ALLREDUCE 808 (7 elements): last enqueued 811"));
  EXPECT_THAT(said, HasSubstr("incident 1 of 2: rank 2 never issued it"));
  EXPECT_THAT(said,
              HasSubstr("incident 2 of 2: ranks 0, 2 wait in ALLREDUCE 55 (7 elements): last enqueued 58"));
  EXPECT_THAT(said, HasSubstr("incident 2 of 2: rank 1 never issued it"));
}

/// A timeout is said again when its process ends, by some of the ranks.
TEST(WatchdogLines, WhatIsSaidAgainIsOneIncident) {
  std::string log;
  for (const int rank : {0, 1})
    log += at("06:24:44", timed_out(rank, 42, "ALLREDUCE", 7)) + at("06:24:44", stands_at_now(rank, 45, 41));
  log +=
      at("06:25:45",
         "[rank1]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:2119] [PG ID 0 PG GUID 0(default_pg) Rank 1] Process "
         "group watchdog thread terminated with exception: [Rank 1] Watchdog caught collective operation "
         "timeout: WorkNCCL(SeqNum=42, OpType=ALLREDUCE, NumelIn=7, NumelOut=7, Timeout(ms)=600000) ran for "
         "600020 milliseconds before timing out.\n");
  EXPECT_THAT(said_of(log), HasSubstr("ranks 0, 1 wait in ALLREDUCE 42"));
  EXPECT_THAT(said_of(log), testing::Not(HasSubstr("incident")));
}

/// A rank that says why it ended is not one "without a log".
TEST(WatchdogLines, WhoFailedByItselfIsNamedWithItsWords) {
  const std::string waits = timed_out(0, 42, "ALLREDUCE", 7) + stands_at_now(0, 45, 41);
  const auto says = [&](const std::string& line) {
    const Diagnosis diagnosis = diagnose(evidence_of({{"", waits + line + "\n"}}));
    std::string all;
    for (const DoctorFinding& finding : diagnosis.findings)
      for (const DoctorObservation& seen : finding.observations) all += seen.what + "\n";
    return all;
  };
  EXPECT_THAT(says("[rank6]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB."),
              HasSubstr("rank 6 failed: torch.OutOfMemoryError: CUDA out of memory"));
  EXPECT_THAT(
      says("[rank4]:[E105 06:20:44.9 ProcessGroupNCCL.cpp:612] [Rank 4] Collective WorkNCCL(SeqNum=42, "
           "OpType=ALLREDUCE, NumelIn=7, NumelOut=7, Timeout(ms)=600000) raised the following async "
           "exception: NCCL error: unhandled cuda error, NCCL version 2.27.5\n"
           "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\n"
           "Cuda failure 'uncorrectable ECC error encountered'"),
      HasSubstr("rank 4 failed: NCCL error: unhandled cuda error, NCCL version 2.27.5: Cuda failure "
                "'uncorrectable ECC"));
  // What the others see of a rank that is gone is not its own failure.
  for (const char* symptom :
       {"DistBackendError: NCCL error in: x.cpp:1, remote process exited",
        "DistNetworkError: failed to recv, got 0 bytes",
        "DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined."})
    EXPECT_THAT(says(std::string("[rank3]: torch.distributed.") + symptom),
                HasSubstr("rank 0 is not behind"));
}

/// Of one rank nothing says how it stands to the others.
TEST(WatchdogLines, OneRankIsNotComparedWithWhomNobodyHeard) {
  const std::string said = said_of(timed_out(0, 42, "ALLREDUCE", 7) + stands_at(0, 45, 41));
  EXPECT_THAT(said, HasSubstr("nothing is here of other ranks"));
  EXPECT_THAT(said, testing::Not(HasSubstr("not behind")));
}

/// What Python says of it without a line of the process group.
TEST(WatchdogLines, ATimeoutInAnExceptionAloneIsRead) {
  EXPECT_THAT(
      said_of("RuntimeError: NCCL communicator was aborted on rank 3.  Original reason for failure was: "
              "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, "
              "OpType=BROADCAST, Timeout(ms)=9) ran for 10 milliseconds before timing out.\n"),
      HasSubstr("rank 3 waits in BROADCAST 7"));
  EXPECT_THAT(said_of("Original reason for failure was: Watchdog caught collective operation timeout:\n"),
              HasSubstr("Original reason"));
}

/// 2.0 and older have neither the sizes nor a time.
TEST(WatchdogLines, AnOldLineIsRead) {
  EXPECT_THAT(said_of("[E ProcessGroupNCCL.cpp:828] [Rank 4] Watchdog caught collective operation timeout: "
                      "WorkNCCL(SeqNum=9, OpType=BROADCAST, Timeout(ms)=1800000) ran for 1800 milliseconds "
                      "before timing out.\n"),
              HasSubstr("rank 4 waits in BROADCAST 9"));
}

}  // namespace
}  // namespace collbench::topology::watchdog_lines_test
