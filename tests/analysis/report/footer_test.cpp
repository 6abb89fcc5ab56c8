#include "analysis/report/sections.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::footer_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> texts(const ReportLines& facts) {
  std::vector<std::string> result;
  for (const ReportLine& fact : facts) result.push_back(fact.text);
  return result;
}

TEST(OutcomeFacts, SayWhatWasNotReachedAndWhatItTook) {
  EXPECT_THAT(
      texts(footer_lines(example_run())),
      ElementsAre("data: every element checked in 4 of 4 rows, none wrong",
                  "requested ring, but the library ran recursive_doubling in 1 row",
                  "AllReduce float sum: no other algorithm measured was significantly faster than auto",
                  "precision not reached in 1 of 4 rows (out of time: 1); the widest interval is ±4.0 % "
                  "(AllReduce 8 B float sum, out of place, ring); use a longer --time or fewer rows",
                  "wall time 1 min 20 s, 8 passes, calibration 350 ms, checking data 3.2 s (4.0 %)",
                  "no verdict on host memory; meas/exp is informational"));
}

TEST(OutcomeFacts, ARunThatWasCutShortTookNoZeroSeconds) {
  auto run = example_run();
  run.wall_seconds = 0;
  EXPECT_THAT(
      texts(footer_lines(run)),
      Contains(HasSubstr("wall time not known, since the run did not end, 8 passes, calibration 350 ms")));
}

TEST(OutcomeFacts, ATimeThatIsNotItsMedianCallIsSaid) {
  auto run = example_run();
  run.rows[1].measurement.median = run.rows[1].measurement.seconds / 2.5;
  EXPECT_THAT(texts(footer_lines(run)),
              Contains(HasSubstr(
                  "time and the median call differ by more than 2 times in 1 row (AllReduce 64 MiB float "
                  "sum, in place: 100 ms against 40 ms)")));
  run.rows[1].measurement.median = run.rows[1].measurement.seconds / 1.9;
  EXPECT_THAT(texts(footer_lines(run)), Not(Contains(HasSubstr("median call"))));
}

TEST(OutcomeFacts, NameTheRanksThatFoundWrongData) {
  auto run = example_run();
  run.rows[1].measurement.wrong_elements = 12;
  run.rows[1].measurement.wrong = {{3, "node02", 12, 7, "6", "5"}};
  const ReportLines facts = footer_lines(run);
  EXPECT_EQ(facts[0].text, "WRONG DATA: AllReduce 64 MiB float sum, in place: 12 elements wrong");
  EXPECT_EQ(facts[0].tone, Tone::alarm);
  EXPECT_EQ(facts[1].text, "rank 3 on node02: 12 wrong, the first at index 7: expected 6, got 5");
  EXPECT_EQ(facts[1].tone, Tone::alarm);
  EXPECT_THAT(texts(facts), Not(Contains(HasSubstr("none wrong"))));
}

TEST(OutcomeFacts, CountTheRanksBeyondTen) {
  auto run = example_run();
  run.rows[1].measurement.wrong_elements = 13;
  for (int rank = 0; rank < 13; ++rank) run.rows[1].measurement.wrong.push_back({rank, "n", 1, 0, "1", "0"});
  const auto said = texts(footer_lines(run));
  EXPECT_THAT(said[10], HasSubstr("rank 9 on n"));
  EXPECT_EQ(said[11], "and 3 ranks more: the record has them all");
}

TEST(OutcomeFacts, SayWhenDataWasNotChecked) {
  auto run = example_run();
  for (Row& row : run.rows) row.measurement.wrong_elements.reset();
  EXPECT_EQ(footer_lines(run)[0].text, "data: not checked");
}

TEST(OutcomeFacts, ARunThatWasCutShortSaysSoFirst) {
  auto run = example_run();
  run.complete = false;
  run.passes = 1;
  EXPECT_EQ(footer_lines(run)[0].text,
            "incomplete: the run was cut short or is still going; the rows show the results after 1 pass");
  EXPECT_EQ(footer_lines(run)[0].tone, Tone::warning);
}

TEST(OutcomeFacts, ExplainTheStar) {
  auto run = example_run();
  run.rows[0].measurement.key.type = DataType::float16;
  run.rows[0].measurement.note = "reduced by collbench";
  run.rows[1].measurement.note = "reduced by collbench";
  EXPECT_THAT(texts(footer_lines(run)), Contains("* float sum, half sum: reduced by collbench"));
  run.rows[2].measurement.key.operation = OperationId::all_gather;
  run.rows[2].measurement.key.reduction.reset();
  run.rows[2].measurement.note = "8 in one group";
  EXPECT_THAT(texts(footer_lines(run)), Contains("* float AllGather: 8 in one group"));
}

TEST(OutcomeFacts, ARowWithoutAnIntervalIsSaidToHaveTooFewPasses) {
  auto run = example_run();
  run.rows[2].measurement.interval.reset();
  EXPECT_THAT(
      texts(footer_lines(run)),
      Contains("precision not reached in 1 of 4 rows (out of time: 1); too few passes for an interval; use a "
               "longer --time or fewer rows"));
}

TEST(OutcomeFacts, MoreTimeIsAdvisedOnlyWhereTimeWasShort) {
  auto run = example_run();
  run.rows[2].measurement.stopped = Stop{StopReason::pass_limit, 64};
  EXPECT_THAT(texts(footer_lines(run)), Not(Contains(HasSubstr("--time"))));
}

TEST(OutcomeFacts, SayNothingOfPrecisionThatWasReached) {
  auto run = example_run();
  run.rows[2].measurement.stopped = Stop{StopReason::precision_reached};
  EXPECT_THAT(texts(footer_lines(run)), Not(Contains(HasSubstr("precision"))));
}

TEST(OutcomeFacts, NoVerdictIsSaidWithItsReason) {
  auto run = example_run();
  run.simulated = true;
  EXPECT_EQ(footer_lines(run).back().text, "no verdict: simulated time");
  run.simulated = false;
  run.backend = BackendId::nccl;
  EXPECT_THAT(texts(footer_lines(run)), Not(Contains(HasSubstr("no verdict"))));
}

TEST(UnavailableFacts, AreSaidOncePerAlgorithmAndReason) {
  auto run = example_run();
  run.rows.push_back(run.rows[3]);
  EXPECT_THAT(
      texts(unavailable_lines(run, OperationId::all_reduce)),
      ElementsAre("AllReduce --algo neighbor: not available: this library has it for AllGather only"));
  EXPECT_TRUE(unavailable_lines(run, OperationId::send_recv).empty());
}

TEST(UnavailableFacts, TypesAndReductionsAreNamedWhereTheyMakeTheDifference) {
  auto run = example_run();
  const auto add = [&](DataType type, Reduction reduction, const std::string& unavailable) {
    Row row = run.rows[0];
    row.measurement.key.algorithm = "nvls";
    row.measurement.key.type = type;
    row.measurement.key.reduction = reduction;
    row.measurement.unavailable = unavailable;
    run.rows.push_back(row);
  };
  run.rows.resize(1);
  add(DataType::float32, Reduction::sum, "");
  add(DataType::float32, Reduction::prod, "no products");
  add(DataType::float32, Reduction::prod, "no products");
  add(DataType::float64, Reduction::max, "no products");
  add(DataType::float32, Reduction::sum, "too large");  // of a kind that ran at another size
  EXPECT_THAT(texts(unavailable_lines(run, OperationId::all_reduce)),
              ElementsAre("AllReduce --algo nvls (float prod, double max): not available: no products",
                          "AllReduce --algo nvls: not available: too large"));
}

TEST(UnavailableFacts, WithoutAnAlgorithmNameOnlyTheOperation) {
  auto run = example_run();
  run.rows[3].measurement.key.algorithm = "auto";
  run.rows[3].measurement.unavailable = "it needs two ranks";
  EXPECT_THAT(texts(unavailable_lines(run, OperationId::all_reduce)),
              ElementsAre("AllReduce: not available: it needs two ranks"));
}

TEST(OutcomeFacts, ARepetitionSaysWhatItTook) {
  auto run = example_run();
  run.repeated = true;
  run.launches = 12;
  EXPECT_THAT(texts(footer_lines(run)),
              Contains(HasSubstr("wall time 1 min 20 s in 12 launches of at most 8 passes")));
}

TEST(OutcomeFacts, WhoIsLateIsAWarningAndNobodyIsALine) {
  auto run = example_run();
  run.rank_probe = RankProbe{};
  run.rank_probe->repetitions = 14;
  run.rank_probe->seconds = 0.2;
  EXPECT_THAT(
      texts(footer_lines(run)),
      Contains(
          "stragglers: no rank is significantly late, and no slow link between hosts (14 probes in 200 ms)"));
  ProbeFinding late;
  late.text = "rank 2 on node02 enters late";
  run.rank_probe->findings = {late};
  const ReportLines facts = footer_lines(run);
  EXPECT_THAT(texts(facts), Contains("warning: rank 2 on node02 enters late"));
  EXPECT_THAT(texts(facts), Not(Contains(HasSubstr("none is late"))));
}

TEST(OutcomeFacts, ARankThatStoodStillIsNamedWithItsPass) {
  auto run = example_run();
  run.pauses = std::vector<RankPause>(
      12, {.rank = 2, .host = "node1", .step = "AllReduce 64 KiB", .pass = 7, .seconds = 3.1});
  const ReportLines facts = footer_lines(run);
  std::vector<ReportLine> found;
  std::copy_if(facts.begin(), facts.end(), std::back_inserter(found),
               [](const ReportLine& fact) { return fact.text.find("stood still") != std::string::npos; });
  ASSERT_EQ(found.size(), 11U);
  EXPECT_EQ(
      found[0].text,
      "warning: rank 2 (node1) stood still for 3.1 s in pass 7 (AllReduce 64 KiB): its process was stopped; "
      "times of that pass may contain it");
  EXPECT_EQ(found[0].tone, Tone::warning);
  EXPECT_EQ(found[10].text, "warning: 2 more times a rank stood still: the record has them all");
}

TEST(OutcomeFacts, TooFewProbesClearNobody) {
  auto run = example_run();
  run.rank_probe = RankProbe{};
  run.rank_probe->repetitions = 4;
  run.rank_probe->seconds = 2.5;
  EXPECT_THAT(
      texts(footer_lines(run)),
      Contains("stragglers: 4 of 14 probes in 2.5 s: too few to rule out a straggler; use a longer --time"));
  EXPECT_THAT(texts(footer_lines(run)), Not(Contains(HasSubstr("no rank is"))));
  EXPECT_THAT(texts(footer_lines(run)), Not(Contains(HasSubstr("no slow link"))));
}

TEST(OutcomeFacts, LinksOfManyHostsNeedMoreProbesThanRanks) {
  auto run = example_run();
  run.ranks.clear();
  for (int rank = 0; rank < 64; ++rank) run.ranks.push_back({rank, "node" + std::to_string(rank), rank, 0});
  run.rank_probe = RankProbe{};
  run.rank_probe->seconds = 1.5;
  run.rank_probe->repetitions = 110;  // 63 rounds of pairs, 8 in each probe: 14 × 63 / 8
  EXPECT_THAT(
      texts(footer_lines(run)),
      Contains("stragglers: no rank is significantly late; 110 of 111 probes in 1.5 s: too few to rule "
               "out a slow link between hosts; use a longer --time"));
  run.rank_probe->repetitions = 111;
  EXPECT_THAT(texts(footer_lines(run)),
              Contains(HasSubstr("no rank is significantly late, and no slow link between hosts")));
}

TEST(OutcomeFacts, OneHostHasNoLinkBetweenHosts) {
  auto run = example_run();
  run.rank_probe = RankProbe{};
  run.rank_probe->repetitions = 14;
  run.rank_probe->seconds = 0.2;
  for (Identity& identity : run.ranks) identity.node = 0;
  EXPECT_THAT(texts(footer_lines(run)),
              Contains("stragglers: no rank is significantly late (14 probes in 200 ms)"));
}

TEST(OutcomeFacts, OnGpusTheLooksAreTheHosts) {
  auto run = example_run();
  run.backend = BackendId::nccl;
  run.rank_probe = RankProbe{};
  run.rank_probe->repetitions = 14;
  run.rank_probe->seconds = 0.2;
  EXPECT_THAT(texts(footer_lines(run)),
              Contains("stragglers: no rank is significantly late (14 probes in 200 ms); "
                       "links between GPUs were not probed"));
  ProbeFinding late;
  late.text = "rank 2 on node02 enters late";
  run.rank_probe->findings = {late};
  EXPECT_THAT(texts(footer_lines(run)), Contains("warning: rank 2 on node02 enters late; this is its host's "
                                                 "delay, which work already queued on its GPU may hide"));
}

TEST(OutcomeFacts, SayWhatMakingCommunicatorsTook) {
  collbench::Run run = example_run();
  const auto said = [&] {
    for (const ReportLine& fact : footer_lines(run)) {
      if (fact.text.starts_with("communicators")) return fact.text;
    }
    return std::string();
  };
  EXPECT_EQ(said(), "") << "host memory has none";
  run.communicator_seconds = {1.5};
  EXPECT_EQ(said(), "communicators: 1.5 s for the first, including NCCL's own setup");
  run.communicator_seconds = {1.5, 0.4, 0.2, 0.3};
  EXPECT_EQ(
      said(),
      "communicators: 1.5 s for the first, including NCCL's own setup; 300 ms for each of 3 more (median)");
}

TEST(OutcomeFacts, SayWhoIsSlowInWhichStepOfNcclsInit) {
  collbench::Run run = example_run();
  run.communicator_seconds = {9.4};
  run.init_steps = {
      {"kernels", 0.21, 1, 0.2}, {"alloc", 9.1, 3, 0.2}, {"bootstrap", 9, 0, 8.9}, {"graphs", 0, 0, 0}};
  EXPECT_THAT(texts(footer_lines(run)),
              Contains("NCCL's init, the longest of each step: kernels 210 ms, alloc 9.1 s "
                       "(rank 3, median 200 ms), bootstrap 9 s with waits"));
}

TEST(OutcomeFacts, SayWhichNetworkNcclUsedAndThatItChanged) {
  collbench::Run run = example_run();
  const auto said = [&] {
    std::string text;
    for (const ReportLine& fact : footer_lines(run)) {
      if (fact.text.find("network") != std::string::npos) text += fact.text + "\n";
    }
    return text;
  };
  run.ranks = {{.rank = 0, .host = "a", .node = 0}, {.rank = 1, .host = "b", .node = 1}};
  EXPECT_EQ(said(), "") << "runs without NCCL";
  run.nccl_networks = {.used = {"IB"}, .unknown_reason = ""};
  EXPECT_EQ(said(), "network between hosts, as NCCL chose it: IB\n");
  run.nccl_networks = {.used = {}, .unknown_reason = "NCCL_DEBUG is set"};
  EXPECT_EQ(said(), "network between hosts, as NCCL chose it: not known: NCCL_DEBUG is set\n");
  run.ranks[1].node = 0;
  EXPECT_EQ(said(), "") << "one host needs none";
  run.nccl_networks = {.used = {"AWS Libfabric", "IB", "Socket"}, .unknown_reason = ""};
  EXPECT_TRUE(
      said().starts_with("warning: NCCL began with network AWS Libfabric and made later communicators over "
                         "IB, Socket: rows may"));
}

}  // namespace
}  // namespace collbench::analysis::footer_test
