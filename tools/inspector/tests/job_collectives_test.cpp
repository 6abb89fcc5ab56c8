#include "tools/inspector/job_collectives.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/units.hpp"
#include "tools/inspector/inspector_report.hpp"

namespace collbench::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// One communicator of `nodes` × 8 ranks with `calls` AllReduces, of which `seconds(call, rank)` says how
/// long each took.
template <class Seconds>
InspectedJob job_of(int nodes, std::uint64_t calls, std::uint64_t size_bytes, Seconds seconds) {
  InspectedJob job;
  job.files = static_cast<std::size_t>(8 * nodes);
  job.communicators.push_back(
      {.id = "0xabc", .name = "dp0", .ranks = 8 * nodes, .nodes = nodes, .hosts = {}});
  for (int rank = 0; rank < 8 * nodes; ++rank)
    job.communicators[0].hosts[rank] = "n" + std::to_string(rank / 8);
  auto& seen = job.calls[{0, OperationId::all_reduce, size_bytes, ""}];
  for (std::uint64_t call = 0; call < calls; ++call)
    for (int rank = 0; rank < 8 * nodes; ++rank)
      seen.push_back({.sequence = call, .rank = rank, .seconds = seconds(call, rank)});
  return job;
}

InspectorPage judged(const InspectedJob& job, const std::string& machine = "hgx-h100") {
  const topology::ResolvedMachine found = topology::resolve_machine(machine);
  return {job, judge_job(job, &found), machine};
}

TEST(JobCollectives, TheTimeOfACallIsThatOfTheRankThatWaitsLeast) {
  const InspectorPage page = judged(job_of(
      1, 40, kGiB, [](auto call, int rank) { return rank == static_cast<int>(call % 8) ? 4e-3 : 7e-3; }));
  ASSERT_THAT(page.result.kinds, SizeIs(1));
  const KindResult& kind = page.result.kinds[0];
  EXPECT_DOUBLE_EQ(kind.seconds, 4e-3);
  EXPECT_NEAR(kind.wait_seconds.value(), 3e-3, 1e-9);
  EXPECT_NEAR(kind.busbw, 1.75 * 1.073741824 / 4e-3, 0.1);
  EXPECT_THAT(page.result.late, IsEmpty()) << "each rank is last in turn";
}

TEST(JobCollectives, ARankThatOthersWaitForIsNamed) {
  const InspectorPage page = judged(job_of(2, 100, kGiB, [](auto call, int rank) {
    return rank == 11 && call % 5 != 0 ? 5e-3 : rank == 3 ? 7.9e-3 : 8e-3;
  }));
  ASSERT_THAT(page.result.late, SizeIs(1));
  const LateRank& late = page.result.late[0];
  EXPECT_EQ(late.rank, 11);
  EXPECT_EQ(late.host, "n1");
  EXPECT_EQ(late.last_in, 80U);
  EXPECT_EQ(late.calls, 80U) << "in the others nobody waits a tenth of the time";
  EXPECT_THAT(inspector_headline(page), HasSubstr("rank 11 on n1 of dp0 comes last in 100 % of 80 calls"));
}

TEST(JobCollectives, OfTwoRanksNobodyIsNamed) {
  InspectedJob job = job_of(1, 100, kGiB, [](auto, int rank) { return rank == 1 ? 4e-3 : 8e-3; });
  job.communicators[0].ranks = 2;
  auto& seen = job.calls.begin()->second;
  std::erase_if(seen, [](const InspectedCall& call) { return call.rank > 1; });
  EXPECT_THAT(judge_job(job, nullptr).late, IsEmpty());
}

/// Four communicators alike, in each of which rank 2 comes last, on the host that `host_of` says.
template <class HostOf>
InspectedJob job_of_four(HostOf host_of) {
  InspectedJob job = job_of(1, 100, kGiB, [](auto, int rank) { return rank == 2 ? 4e-3 : 8e-3; });
  const std::vector<InspectedCall> calls = job.calls.begin()->second;
  for (std::size_t i = 1; i < 4; ++i) {
    job.communicators.push_back(job.communicators[0]);
    job.calls[{i, OperationId::all_reduce, kGiB, ""}] = calls;
  }
  for (std::size_t i = 0; i < 4; ++i) job.communicators[i].hosts[2] = host_of(i);
  return job;
}

TEST(JobCollectives, TheSameRankOfManyCommunicatorsOnSeveralHostsIsHeldUpElsewhere) {
  const JobResult result =
      judge_job(job_of_four([](std::size_t i) { return "n" + std::to_string(i); }), nullptr);
  EXPECT_THAT(result.late, IsEmpty());
  EXPECT_THAT(result.notes, testing::ElementsAre(HasSubstr(
                                "rank 2 comes last in 4 of 4 communicators of 8 ranks, on several hosts")));
}

TEST(JobCollectives, OfOneHostItMayBeTheHostWhichIsNamedOnce) {
  const InspectedJob job = job_of_four([](std::size_t) { return std::string("n5"); });
  const InspectorPage page{job, judge_job(job, nullptr), ""};
  EXPECT_THAT(page.result.late, SizeIs(4)) << "a slow node is late in each communicator that spans nodes";
  const std::string first = inspector_headline(page);
  EXPECT_THAT(first, StartsWith("rank 2 on n5 of dp0 comes last in 100 % of 100 calls"));
  EXPECT_EQ(first.find("n5"), first.rfind("n5"));
}

TEST(JobCollectives, WhoIsEarlyMakesNobodyLate) {
  EXPECT_THAT(
      judge_job(job_of(1, 100, kGiB, [](auto, int rank) { return rank == 5 ? 9e-3 : 8e-3; }), nullptr).late,
      IsEmpty());
}

TEST(JobCollectives, ARootThatIsReadyFirstIsNotLate) {
  InspectedJob job = job_of(1, 100, kGiB, [](auto, int rank) { return rank == 0 ? 4e-3 : 8e-3; });
  auto calls = job.calls.extract(job.calls.begin());
  calls.key().operation = OperationId::broadcast;
  job.calls.insert(std::move(calls));
  EXPECT_THAT(judge_job(job, nullptr).late, IsEmpty());
}

TEST(JobCollectives, ARankThatWasReadTwiceCountsOnce) {
  InspectedJob job = job_of(1, 40, kGiB, [](auto, int) { return 8e-3; });
  auto& seen = job.calls.begin()->second;
  std::erase_if(seen, [](const InspectedCall& call) { return call.rank == 2; });
  const std::vector<InspectedCall> again = seen;
  seen.insert(seen.end(), again.begin(), again.end());
  const JobResult result = judge_job(job, nullptr);
  EXPECT_EQ(result.kinds[0].calls, 40U);
  EXPECT_EQ(result.kinds[0].whole, 0U) << "rank 2 is missing";
}

TEST(JobCollectives, OfCallsThatNotAllRanksWereSeenInNobodyIsNamed) {
  InspectedJob job = job_of(1, 100, kGiB, [](auto, int rank) { return rank == 5 ? 4e-3 : 8e-3; });
  ASSERT_THAT(judge_job(job, nullptr).late, SizeIs(1));
  for (auto& [kind, seen] : job.calls)
    std::erase_if(seen, [](const InspectedCall& call) { return call.rank == 2; });
  job.communicators[0].hosts.erase(2);
  EXPECT_THAT(judge_job(job, nullptr).late, IsEmpty());
  EXPECT_THAT(report({job, judge_job(job, nullptr), ""}, "text", 200),
              HasSubstr("fewer than 20 calls were logged by every rank"));
}

TEST(JobCollectives, BelowIsWhatIsUnderTheEdgeOfSoundMachines) {
  const InspectorPage sound = judged(job_of(1, 40, kGiB, [](auto, int) { return 3.9e-3; }));
  EXPECT_FALSE(sound.result.kinds[0].is_below()) << *sound.result.kinds[0].ratio();
  EXPECT_THAT(inspector_headline(sound), StartsWith("40 calls of 1 communicator, 8 files"));
  const InspectorPage slow = judged(job_of(1, 40, kGiB, [](auto, int) { return 8e-3; }));
  EXPECT_TRUE(slow.result.kinds[0].is_below());
  EXPECT_THAT(inspector_headline(slow), StartsWith("BELOW a sound hgx-h100: AllReduce 1 GiB of dp0, 0."));
  const InspectorPage small = judged(job_of(1, 40, kMiB, [](auto, int) { return 8e-3; }));
  EXPECT_TRUE(small.result.kinds[0].expected_busbw);
  EXPECT_FALSE(small.result.kinds[0].is_below()) << "verdicts go by 64 MiB and more";
}

TEST(JobCollectives, ANodesPartOfARailIsExpectedByItsOwnRanks) {
  InspectedJob job = job_of(1, 40, kGiB, [](auto, int) { return 50e-3; });
  job.communicators[0].nodes = 8;
  const InspectorPage page = judged(job);
  ASSERT_TRUE(page.result.kinds[0].expected_busbw);
  EXPECT_LT(*page.result.kinds[0].expected_busbw, 60) << "a NIC of 400 Gb/s for each rank";
  job.communicators[0].nodes = 3;
  EXPECT_THAT(judged(job).result.notes, SizeIs(1)) << "nodes of different numbers of ranks";
}

TEST(JobCollectives, WhatBecomesSlowerIsSaidWithTheCall) {
  const InspectorPage page =
      judged(job_of(1, 200, kGiB, [](auto call, int) { return call < 120 ? 4e-3 : 8e-3; }));
  ASSERT_TRUE(page.result.kinds[0].slowdown);
  EXPECT_EQ(page.result.kinds[0].slowdown->sequence, 120U);
  EXPECT_DOUBLE_EQ(page.result.kinds[0].slowdown->times, 2);
  const InspectorPage steady =
      judged(job_of(1, 200, kGiB, [](auto call, int) { return call == 150 ? 9e-3 : 4e-3; }));
  EXPECT_FALSE(steady.result.kinds[0].slowdown);
}

TEST(JobCollectives, EveryFormatHasEachKind) {
  const InspectorPage page = judged(job_of(1, 40, kGiB, [](auto, int) { return 8e-3; }));
  EXPECT_THAT(report(page, "csv", 80), HasSubstr("\n0xabc,dp0,all_reduce,,8,1,1073741824,40,40,0.008,"));
  const Json json = Json::parse(report(page, "json", 80));
  EXPECT_EQ(json["kinds"][0]["verdict"], "BELOW");
  EXPECT_EQ(json["kinds"][0]["size_bytes"], kGiB);
  const std::string text = report(page, "text", 80);
  EXPECT_THAT(text, StartsWith("BELOW a sound hgx-h100: "));
}

}  // namespace
}  // namespace collbench::analysis
