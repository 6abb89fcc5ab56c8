#include "tools/inspector/job_collectives.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "base/document/text_layout.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
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
  EXPECT_FALSE(sound.result.kinds[0].verdict() == VerdictWord::below) << *sound.result.kinds[0].ratio();
  EXPECT_THAT(inspector_headline(sound), StartsWith("40 calls of 1 communicator, 8 files"));
  const InspectorPage slow = judged(job_of(1, 40, kGiB, [](auto, int) { return 8e-3; }));
  EXPECT_TRUE(slow.result.kinds[0].verdict() == VerdictWord::below);
  EXPECT_THAT(inspector_headline(slow), StartsWith("BELOW a sound hgx-h100: AllReduce 1 GiB of dp0, 0."));
  const InspectorPage small = judged(job_of(1, 40, kMiB, [](auto, int) { return 8e-3; }));
  EXPECT_TRUE(small.result.kinds[0].expected_busbw);
  EXPECT_FALSE(small.result.kinds[0].verdict() == VerdictWord::below) << "verdicts go by 64 MiB and more";
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

TEST(JobCollectives, WhatIsExpectedOfAKindDoesNotDependOnTheOthersOfTheJob) {
  InspectedJob all;
  std::vector<double> alone;
  for (const auto& [nodes, id, bytes, algorithm] :
       {std::tuple(1, OperationId::all_reduce, kGiB, ""), std::tuple(2, OperationId::all_reduce, kGiB, ""),
        std::tuple(2, OperationId::all_gather, kGiB, ""), std::tuple(2, OperationId::all_gather, kMiB, ""),
        std::tuple(2, OperationId::all_reduce, kGiB, "ring"),
        std::tuple(8, OperationId::all_reduce, kGiB, "ring")}) {
    InspectedJob one = job_of(nodes == 8 ? 1 : nodes, 1, bytes, [](auto, int) { return 8e-3; });
    one.communicators[0].nodes = nodes;  // 8: a rail
    auto calls = one.calls.extract(one.calls.begin());
    calls.key().operation = id;
    calls.key().algorithm = algorithm;
    one.calls.insert(std::move(calls));
    alone.push_back(judged(one).result.kinds.at(0).expected_busbw.value());
    auto copy = one.calls.extract(one.calls.begin());
    copy.key().communicator = all.communicators.size();
    all.communicators.push_back(one.communicators[0]);
    all.calls.insert(std::move(copy));
  }
  std::vector<double> of_one_job;
  for (const KindResult& kind : judged(all).result.kinds) of_one_job.push_back(kind.expected_busbw.value());
  EXPECT_EQ(of_one_job, alone);
  std::sort(alone.begin(), alone.end());
  EXPECT_EQ(std::unique(alone.begin(), alone.end()), alone.end()) << "each has its own";
}

TEST(JobCollectives, WhatBecomesSlowerIsSaidWithTheCall) {
  const InspectorPage page =
      judged(job_of(1, 200, kGiB, [](auto call, int) { return call < 120 ? 4e-3 : 8e-3; }));
  ASSERT_TRUE(page.result.kinds[0].slowdown);
  EXPECT_EQ(page.result.kinds[0].slowdown->sequence, 120U);
  EXPECT_THAT(report(page, "text", 200),
              HasSubstr("takes 2.00 times as long from call number 120 on, and is judged by that\n"));
  EXPECT_GT(*page.result.kinds[0].ratio(), 0.9) << "the median of all calls";
  EXPECT_THAT(
      inspector_headline(page),
      StartsWith(
          "BELOW a sound hgx-h100: AllReduce 1 GiB of dp0, 0.51 of expected from call number 120 on;"));
  EXPECT_DOUBLE_EQ(page.result.kinds[0].slowdown->times, 2);
  const InspectorPage steady =
      judged(job_of(1, 200, kGiB, [](auto call, int) { return call == 150 ? 9e-3 : 4e-3; }));
  EXPECT_FALSE(steady.result.kinds[0].slowdown);
  const InspectorPage few =
      judged(job_of(1, 40, kGiB, [](auto call, int) { return call < 20 ? 4e-3 : 8e-3; }));
  ASSERT_TRUE(few.result.kinds[0].slowdown);
  EXPECT_EQ(few.result.kinds[0].slowdown->sequence, 20U);
}

/// Means of `gpus` GPUs over `minutes`, of groups of 8 ranks on one node.
template <class Seconds>
InspectedJob job_of_means(int gpus, std::uint64_t minutes, Seconds seconds) {
  InspectedJob job;
  job.files = 1;
  job.communicators.push_back({.name = "tp", .ranks = 8, .nodes = 1, .is_of_means = true});
  InspectedCommunicator& group = job.communicators[0];
  auto& seen = job.calls[{0, OperationId::all_reduce, kGiB, "", 2 * kGiB}];
  for (int gpu = 0; gpu < gpus; ++gpu) {
    group.hosts[gpu] = "n0";
    group.gpus["n0 GPU" + std::to_string(gpu)] = gpu;
    for (std::uint64_t minute = 0; minute < minutes; ++minute)
      seen.push_back(
          {.sequence = minute,
           .rank = gpu,
           .seconds = seconds(minute, gpu),
           .second_of_dump = minutes == 1 ? 0 : static_cast<std::int64_t>(1764000000 + 60 * minute)});
  }
  return job;
}

TEST(JobCollectives, MeansUnderTheEdgeAreUnclearForWhatTheyWaited) {
  const InspectorPage page = judged(job_of_means(8, 1, [](auto, int) { return 8e-3; }));
  ASSERT_THAT(page.result.kinds, SizeIs(1));
  EXPECT_EQ(page.result.kinds[0].verdict(), VerdictWord::unclear);
  EXPECT_FALSE(page.result.kinds[0].wait_seconds);
  EXPECT_THAT(inspector_headline(page), StartsWith("UNCLEAR: AllReduce 1–2 GiB of tp, 0."));
  const std::string text = report(page, "text", 400);
  EXPECT_THAT(text,
              HasSubstr("\n  operation     size  busbw  expected  ratio  verdict\ntp: 1 × 8 ranks on n0\n"))
      << "no column without a value";
  EXPECT_THAT(text, HasSubstr("who waits for whom is not known"));
  EXPECT_THAT(text, HasSubstr("since when is not known"));
  EXPECT_THAT(text, Not(HasSubstr("logged by every rank")));
  const Json kind = Json::parse(report(page, "json", 80))["kinds"][0];
  EXPECT_EQ(kind["verdict"], "UNCLEAR");
  EXPECT_EQ(kind["size_end_bytes"], 2 * kGiB);
  EXPECT_TRUE(kind["calls"].is_null());
  EXPECT_TRUE(kind["seconds"].is_null());
  EXPECT_EQ(kind["gpus"], 8);
}

TEST(JobCollectives, TheGpuThatWaitsLeastShowsThatOthersOnlyWait) {
  const InspectorPage page =
      judged(job_of_means(8, 1, [](auto, int gpu) { return gpu == 3 ? 3.9e-3 : 8e-3; }));
  EXPECT_EQ(page.result.kinds[0].verdict(), VerdictWord::none);
  EXPECT_DOUBLE_EQ(page.result.kinds[0].seconds, 3.9e-3);
  EXPECT_THAT(page.result.late, IsEmpty());
}

TEST(JobCollectives, OfSeveralCommunicatorsOfOneNameTheSlowestCounts) {
  const InspectorPage page =
      judged(job_of_means(16, 1, [](auto, int gpu) { return gpu < 8 ? 3.9e-3 : 8e-3; }));
  EXPECT_EQ(page.result.kinds[0].verdict(), VerdictWord::unclear);
  EXPECT_DOUBLE_EQ(page.result.kinds[0].seconds, 8e-3);
  EXPECT_THAT(report(page, "text", 200), HasSubstr("1 group of communicators of one name"));
  const InspectorPage waiting =
      judged(job_of_means(16, 1, [](auto, int gpu) { return gpu < 9 ? 3.9e-3 : 8e-3; }));
  EXPECT_EQ(waiting.result.kinds[0].verdict(), VerdictWord::none) << "seven wait for one that is quick";
}

TEST(JobCollectives, MeansThatBecomeLongerAreSaidWithTheTime) {
  const InspectorPage page =
      judged(job_of_means(8, 200, [](auto minute, int) { return minute < 120 ? 3.9e-3 : 8e-3; }));
  ASSERT_TRUE(page.result.kinds[0].slowdown);
  const std::string text = report(page, "text", 200);
  EXPECT_THAT(text,
              HasSubstr("AllReduce 1–2 GiB of tp takes 2.05 times as long from 2025-11-24 18:00:00 UTC on"));
  EXPECT_THAT(text, Not(HasSubstr("since when is not known")));
  const Json kind = Json::parse(report(page, "json", 80))["kinds"][0];
  EXPECT_EQ(kind["verdict"], "UNCLEAR");
  EXPECT_THAT(inspector_headline(page), HasSubstr(" from 2025-11-24 18:00:00 UTC on; 1600 means of 1 group"));
  EXPECT_EQ(kind["slower_from_time"], "2025-11-24 18:00:00 UTC");
  EXPECT_TRUE(kind["slower_from_call"].is_null());
}

TEST(JobCollectives, WhatInspectorLostIsSaid) {
  InspectedJob job = job_of(1, 40, kGiB, [](auto, int) { return 4e-3; });
  job.lost = {{"0xabc 0", 0}, {"0xabc 1", 12}};
  EXPECT_THAT(report({job, judge_job(job, nullptr), ""}, "text", 200),
              HasSubstr("Inspector lost 12 calls before it wrote them"));
}

/// The longest cells of each column.
InspectedJob wide_job() {
  InspectedJob job = job_of(16, 20, 1'234'567'890, [](auto call, int rank) {
    return rank == 3 ? 0.0123 : 0.0234 + 1e-6 * static_cast<double>(call);
  });
  auto calls = job.calls.extract(job.calls.begin());
  calls.key().operation = OperationId::reduce_scatter;
  calls.key().algorithm = "collnet_direct";
  job.calls.insert(std::move(calls));
  job.communicators[0].name =
      "a name of a communicator that alone is longer than what a line of text can have";
  return job;
}

TEST(JobCollectives, TextFitsEightyColumnsAndSaysWhatItHides) {
  const InspectorPage page = judged(wide_job());
  const std::string text = report(page, "text", 80);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
  EXPECT_THAT(text, HasSubstr("  too narrow for: time, algorithm\n"));
  EXPECT_THAT(text, testing::ContainsRegex(
                        "ReduceScatter +1\\.15 GiB +20 +99\\.6 +[0-9.]+ +0\\.[0-9]+ +11\\.1 ms +BELOW\n"));
  EXPECT_THAT(report(page, "text", 120), HasSubstr("collnet_direct"));
  EXPECT_THAT(report(page, "text", 120), Not(HasSubstr("too narrow")));
}

TEST(JobCollectives, AJobWithoutACallIsWrittenAsWell) {
  for (const char* format : {"text", "md", "html", "csv", "json"})
    EXPECT_THAT(report({}, format, 80), Not(IsEmpty())) << format;
}

TEST(JobCollectives, APageHasEachKindWithItsCommunicatorAndWhatIsBelowStandsOut) {
  const InspectorPage page = judged(job_of(2, 40, kGiB, [](auto, int) { return 30e-3; }));
  const std::string text = report(page, "md", 80);
  EXPECT_THAT(text, StartsWith("# Collectives of a job\n\n**BELOW a sound hgx-h100"));
  EXPECT_THAT(text, HasSubstr("| dp0 | 2 × 8 | n0, n1 | AllReduce | 1 GiB | 40 |"));
  EXPECT_THAT(text, HasSubstr("**BELOW** |"));
  const std::string html = report(page, "html", 80);
  EXPECT_THAT(html, HasSubstr("<title>Collectives of a job</title>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"alarm\">BELOW</td>"));
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
