#include "analysis/hang/communicators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace collbench::analysis::communicators_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CommunicatorMember member(int rank, std::uint64_t begun, std::uint64_t call) {
  CommunicatorMember made;
  made.rank = rank;
  made.begun["collective calls"] = begun;
  made.call = call;
  if (call > 0) made.operation = "all_reduce (1024 Float)";
  return made;
}

Communicator three(const CommunicatorMember& one, const CommunicatorMember& two,
                   const CommunicatorMember& last) {
  return {.name = "group 0",
          .size = 3,
          .members = {one, two, last},
          .begun_by_others = {},
          .verdict = {},
          .status = {}};
}

TEST(Communicators, TextAndJsonHaveEachRankAndTheFinding) {
  const Communicator group = three(member(0, 412, 412), member(1, 411, 0), member(2, 412, 412));
  EXPECT_EQ(communicators_text({group}, 1000),
            "group 0, 3 ranks\n"
            "  ranks 0, 2: in call 412, all_reduce (1024 Float)\n"
            "  rank 1: 411 collective calls begun\n"
            "\n"
            "group 0: rank 1 has begun 411 collective calls, others 412; ranks 0, 2 wait in call 412, "
            "all_reduce (1024 "
            "Float)\n");
  const std::string json = communicators_json({group});
  EXPECT_THAT(json, HasSubstr("\"cause\": \"rank behind\""));
  EXPECT_THAT(json, HasSubstr("\"call\": 412"));
}

TEST(Communicators, OneCallAndOneRankAreSingular) {
  const Communicator group = three(member(0, 2, 2), member(1, 1, 0), member(2, 2, 2));
  EXPECT_THAT(communicators_text({group}, 1000), HasSubstr("rank 1: 1 collective call begun\n"));
  EXPECT_THAT(find_hang(group).text, HasSubstr("rank 1 has begun 1 collective call, others 2"));
  Communicator one = group;
  one.members.resize(1);
  EXPECT_THAT(find_hang(one).text, HasSubstr("rank 0 waits in call 2"));
}

/// Equal sums are not equal calls.
TEST(Communicators, RanksThatCalledDifferentOperationsAreNamed) {
  const auto counts = [](int rank, std::uint64_t gathers, std::uint64_t reduces) {
    CommunicatorMember made;
    made.rank = rank;
    made.begun = {{"AllGather", gathers}, {"AllReduce", reduces}};
    return made;
  };
  Communicator group = three(counts(0, 3, 41), counts(1, 4, 40), counts(2, 3, 41));
  HangFinding found = find_hang(group);
  EXPECT_EQ(found.cause, HangCause::calls_differ);
  EXPECT_THAT(found.ranks, ElementsAre(1));
  EXPECT_EQ(
      found.text,
      "group 0: ranks called different operations: rank 1 has begun 4 AllGather, 40 AllReduce; ranks 0, 2 "
      "have begun 3 AllGather, 41 AllReduce");
  // Whichever rank comes first.
  EXPECT_EQ(find_hang(three(counts(0, 1, 20), counts(1, 2, 20), counts(2, 1, 21))).cause,
            HangCause::calls_differ);
  EXPECT_EQ(find_hang(three(counts(0, 2, 20), counts(1, 1, 20), counts(2, 1, 21))).cause,
            HangCause::calls_differ);
  EXPECT_EQ(find_hang(three(counts(0, 1, 20), counts(1, 2, 20), counts(2, 2, 21))).cause,
            HangCause::rank_behind);
  group.members[0].error = "invalid usage";  // which is what NCCL says of it
  found = find_hang(group);
  EXPECT_EQ(found.cause, HangCause::calls_differ);
  EXPECT_THAT(found.text, HasSubstr("rank 0 reports: invalid usage"));
  // The text of RAS lists who differs, and of each only the operations in which it does.
  group = three(counts(0, 0, 0), counts(1, 4, 40), counts(2, 0, 0));
  group.members = {group.members[1]};
  group.begun_by_others = {{"AllGather", 3}, {"AllReduce", 41}};
  EXPECT_THAT(find_hang(group).text,
              HasSubstr("rank 1 has begun 4 AllGather, 40 AllReduce; others 3 AllGather, "
                        "41 AllReduce"));
  group.members[0].begun = {{"AllReduce", 40}};
  EXPECT_EQ(find_hang(group).cause, HangCause::rank_behind);
}

/// What RAS of NCCL 2.27.3 says of groups that are not there blames nobody.
TEST(Communicators, ARankThatCannotBeIsNonsense) {
  Communicator group = three(member(0, 412, 412), member(1, 412, 412), member(1057455228, 0, 0));
  group.members.back().presence = MemberPresence::silent;
  group.verdict = "INCOMPLETE,MISMATCH";
  for (const int size : {3, 0}) {
    group.size = size;
    group.status = size == 0 ? "NOCOMM" : "RUNNING";
    const HangFinding finding = find_hang(group);
    EXPECT_THAT(finding.ranks, IsEmpty());
    EXPECT_THAT(finding.text, HasSubstr("rank ")) << finding.text;
    EXPECT_THAT(finding.text, HasSubstr("nonsense"));
  }
}

TEST(Communicators, WhoIsDeadComesBeforeWhoIsNotHeardOfAndWhoIsBehind) {
  Communicator group = three(member(0, 412, 412), member(1, 411, 0), member(2, 0, 0));
  EXPECT_EQ(find_hang(group).cause, HangCause::rank_behind);
  group.members[2].presence = MemberPresence::silent;
  EXPECT_EQ(find_hang(group).cause, HangCause::rank_missing);
  EXPECT_THAT(find_hang(group).ranks, ElementsAre(2));
  group.members[1].error = "system error";
  EXPECT_EQ(find_hang(group).cause, HangCause::rank_failed);
  group.members[0].presence = MemberPresence::dead;
  EXPECT_EQ(find_hang(group).cause, HangCause::rank_gone);
  EXPECT_THAT(find_hang(group).ranks, ElementsAre(0));
}

TEST(Communicators, RanksThatAreNotListedMayBeTheOnesBehind) {
  Communicator group = three(member(0, 412, 0), member(1, 412, 0), member(2, 412, 0));
  group.begun_by_others["collective calls"] = 400;
  const HangFinding found = find_hang(group);
  EXPECT_EQ(found.cause, HangCause::rank_behind);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_EQ(found.text, "group 0: ranks that are not listed have begun 400 collective calls, others 412");
}

TEST(Communicators, NothingThatATerminalWouldObeyIsPrinted) {
  Communicator group = three(member(0, 1, 1), member(1, 1, 1), member(2, 1, 1));
  group.name = "group \x1b[31m\n";
  group.members[0].operation = "all\x1b[2J\nreduce";
  const std::string text = communicators_text({group}, 1000);
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

}  // namespace
}  // namespace collbench::analysis::communicators_test
