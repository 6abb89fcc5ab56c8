#include "analysis/report/criteria.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "base/units.hpp"
#include "tests/analysis/example_run.hpp"
#include "tests/analysis/probe/made_probes.hpp"

namespace collbench::analysis::criteria_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t k64MiB = 64ULL << 20U;

std::vector<std::string> texts(const RunCheck& check) {
  std::vector<std::string> all;
  for (const RunFailure& each : check.failures) all.push_back(each.text);
  return all;
}

Criteria minimum(OperationId id, std::optional<std::uint64_t> size, double gb_per_s) {
  return {.min_busbw = {{id, size, gb_per_s * 1e9}}, .fail_on = {}};
}

TEST(Criteria, ARowAtItsMinimumPassesAndOneBelowFails) {
  const auto run = example_run();  // AllReduce of 64 MiB in 100 ms on four ranks: 1.0066 GB/s
  EXPECT_THAT(check_run(run, minimum(OperationId::all_reduce, k64MiB, 1.0066)).failures, IsEmpty());
  const RunCheck check = check_run(run, minimum(OperationId::all_reduce, k64MiB, 2));
  EXPECT_THAT(texts(check),
              ElementsAre("AllReduce 64 MiB float sum, in place: busbw 1.01 GB/s is 49.7 % below "
                          "the minimum of 2.00 GB/s"));
  EXPECT_THAT(check.failures.front().rows, ElementsAre(1U));
}

TEST(Criteria, NoMinimumIsMetBySimulatedGpus) {
  auto run = example_run();
  run.gpus_simulated = true;
  EXPECT_THAT(texts(check_run(run, minimum(OperationId::all_reduce, k64MiB, 1e-6))),
              ElementsAre(HasSubstr("AllReduce 64 MiB: no minimum can be met: SIMULATED GPUs")));
}

TEST(Criteria, WithoutASizeEveryLargeRowCounts) {
  EXPECT_EQ(check_run(example_run(), minimum(OperationId::all_reduce, {}, 2)).failures.size(), 1U)
      << "and not the rows of 8 B";
}

TEST(Criteria, AMeanIsOfAllRowsOfTheOperation) {
  const auto of_mean = [](OperationId id, double gb_per_s) {
    Criteria criteria = minimum(id, std::nullopt, gb_per_s);
    criteria.min_busbw.front().mean = true;
    return texts(check_run(example_run(), criteria));
  };
  // 64 MiB: 1.0066 GB/s; 8 B: next to nothing.
  EXPECT_THAT(of_mean(OperationId::all_reduce, 0.3), IsEmpty());
  EXPECT_THAT(of_mean(OperationId::all_reduce, 1), ElementsAre(HasSubstr("AllReduce on average: ")));
  EXPECT_THAT(of_mean(OperationId::broadcast, 1),
              ElementsAre("Broadcast on average: no row has a bus bandwidth, and the minimum is 1.00 GB/s"));
}

TEST(Criteria, AMinimumThatNothingWasMeasuredForFails) {
  EXPECT_THAT(
      texts(check_run(example_run(), minimum(OperationId::broadcast, k64MiB, 1))),
      ElementsAre("Broadcast 64 MiB: a minimum of 1.00 GB/s was asked for, and the run has no bus bandwidth "
                  "of it: no row of this operation has one"));
  auto run = example_run();
  run.rows.push_back(run.rows[1]);
  run.rows.back().measurement.key.size_bytes = 4 * k64MiB;
  const auto stated = [&run](std::optional<std::uint64_t> size) {
    return texts(check_run(run, minimum(OperationId::all_reduce, size, 1))).front();
  };
  EXPECT_THAT(stated(2 * k64MiB), HasSubstr("of it: nearest are 64 MiB and 256 MiB"));
  EXPECT_THAT(stated(8 * k64MiB), testing::EndsWith("of it: nearest is 256 MiB"));
  EXPECT_THAT(stated(1), testing::EndsWith("of it: nearest is 8 B"));
  for (Row& row : run.rows) row.measurement.key.size_bytes = 1024;
  EXPECT_THAT(stated({}), testing::EndsWith("of it: the largest is 1 KiB"));
}

TEST(Criteria, ASizeThatWasRoundedDownCounts) {
  auto run = example_run();
  run.rows[1].measurement.key.size_bytes = k64MiB - 64;
  const RunCheck check = check_run(run, minimum(OperationId::all_reduce, k64MiB, 2));
  ASSERT_EQ(check.failures.size(), 1U);
  EXPECT_FALSE(check.failures.front().rows.empty());
  run.rows[1].measurement.key.size_bytes = k64MiB / 2;
  EXPECT_THAT(check_run(run, minimum(OperationId::all_reduce, k64MiB, 2)).failures.front().rows, IsEmpty());
}

TEST(Criteria, WrongDataAlwaysFails) {
  auto run = example_run();
  run.rows[0].measurement.wrong_elements = 3;
  run.rows[0].measurement.wrong = {{1, "node01", 3, 0, "1", "2"}};
  const RunCheck check = check_run(run, {.min_busbw = {}, .fail_on = {}});
  EXPECT_THAT(
      texts(check),
      ElementsAre("WRONG DATA: AllReduce 8 B float sum, out of place: 3 elements wrong (rank 1 on node01)"));
  EXPECT_TRUE(check.failures.front().is_wrong_data);
}

TEST(Criteria, ASeriesThatIsBelowFailsOnceForAllItsRows) {
  auto run = example_run();
  for (Row& row : run.rows) row.verdict.word = VerdictWord::sound;
  run.rows[1].verdict = {VerdictWord::below, "Only half."};
  const RunCheck check = check_run(run, {});
  EXPECT_THAT(texts(check), ElementsAre("AllReduce 64 MiB float sum, in place: BELOW: Only half."));
  EXPECT_THAT(check.failures.front().rows, ElementsAre(0U, 1U));
  EXPECT_THAT(check.not_known, IsEmpty());
  EXPECT_THAT(check_run(run, {.min_busbw = {}, .fail_on = {}}).failures, IsEmpty());
  run.rows[1].verdict = {VerdictWord::unclear, "Which ran?"};
  EXPECT_THAT(check_run(run, {}).failures, IsEmpty());
  EXPECT_THAT(texts(check_run(run, {.min_busbw = {}, .fail_on = {FailureKind::unclear}})),
              ElementsAre("AllReduce 64 MiB float sum, in place: UNCLEAR: Which ran?"));
}

TEST(Criteria, ARunThatWasCutShortIsUnclear) {
  auto run = example_run();
  for (Row& row : run.rows) row.verdict.word = VerdictWord::sound;
  run.complete = false;
  EXPECT_THAT(check_run(run, {}).failures, IsEmpty());
  EXPECT_THAT(texts(check_run(run, {.min_busbw = {}, .fail_on = {FailureKind::unclear}})),
              ElementsAre("UNCLEAR: the record is not complete"));
}

TEST(Criteria, WhatARecordDoesNotSayIsNoAllClear) {
  const RunCheck check = check_run(
      example_run(),
      {.min_busbw = {},
       .fail_on = {FailureKind::below, FailureKind::late, FailureKind::degraded, FailureKind::throttled}});
  EXPECT_THAT(check.failures, IsEmpty());
  EXPECT_THAT(
      check.not_known,
      ElementsAre(HasSubstr("below: there is no verdict on host memory"), HasSubstr("late: nobody probed"),
                  HasSubstr("degraded: the record"), HasSubstr("throttled: the record has no telemetry")));
}

TEST(Criteria, ALinkFailsWhereOneMoreOperationWouldTestIt) {
  auto run = example_run();
  for (Row& row : run.rows) {
    row.verdict.word = VerdictWord::sound;
    row.verdict.hidden = {{"NIC", 0.5, "the 8 NICs at 50 % of their rate", 8}};
  }
  const Criteria untested{.min_busbw = {}, .fail_on = {FailureKind::untested}};
  EXPECT_THAT(texts(check_run(run, untested)), ElementsAre(HasSubstr("do not show the 8 NICs at 50 %")));
  Row row = run.rows[0];
  row.measurement.key.operation = OperationId::all_gather;
  run.rows.push_back(row);
  row.measurement.key.operation = OperationId::send_recv;
  run.rows.push_back(row);
  const RunCheck no_operation_can = check_run(run, untested);
  EXPECT_THAT(no_operation_can.failures, IsEmpty());
  EXPECT_THAT(no_operation_can.not_known,
              testing::Contains(HasSubstr("no operation between these ranks shows the 8 NICs")));
  for (Row& each : run.rows) each.verdict.word = VerdictWord::unclear;
  EXPECT_THAT(check_run(run, untested).not_known, testing::Contains(HasSubstr("no operation is SOUND")));
}

TEST(Criteria, StragglersAndThrottledGpusFail) {
  auto run = example_run();
  run.rank_probe.emplace();
  run.rank_probe->repetitions = 20;
  const Criteria late{.min_busbw = {}, .fail_on = {FailureKind::late}};
  EXPECT_THAT(check_run(run, late).not_known, IsEmpty());
  run.rank_probe->findings.resize(1);
  run.rank_probe->findings[0].text = "rank 3 (node02) is late";
  EXPECT_THAT(texts(check_run(run, late)), ElementsAre("rank 3 (node02) is late"));
  run.rank_probe->findings.clear();
  run.rank_probe->repetitions = 3;
  EXPECT_THAT(check_run(run, late).not_known, ElementsAre(HasSubstr("3 of 14 probes")));
  run.telemetry.emplace();
  run.rows[1].measurement.marks.resize(1);
  run.rows[1].measurement.marks[0].gpu = "GPU-1";
  run.rows[1].measurement.marks[0].host = "node02";
  EXPECT_THAT(texts(check_run(run, {.min_busbw = {}, .fail_on = {FailureKind::throttled}})),
              ElementsAre(HasSubstr("AllReduce 64 MiB float sum, in place: GPU-1 of node02: ")));
}

TEST(Criteria, WhoAcceptsAMachineAcceptsNoLossThatItsLogShows) {
  Criteria accept;
  accept.accept = true;
  auto run = example_run();
  run.log.emplace();
  run.log->left_out = {{std::string(kRowsOfNoBytes), 2, 3}};
  EXPECT_THAT(texts(check_run(run, accept)), testing::Not(testing::Contains(HasSubstr("the log"))));
  run.log->left_out.push_back({std::string(kRowsWithoutTime), 1, 7});
  run.log->losses = {"7 NICs on n18 (line 45), 8 on n17 (line 26)"};
  EXPECT_THAT(
      texts(check_run(run, accept)),
      testing::IsSupersetOf({"the log has what was not judged: rows whose time is not a positive number: 1, "
                             "the first on line 7",
                             "the log shows a loss: 7 NICs on n18 (line 45), 8 on n17 (line 26)"}));
  EXPECT_THAT(texts(check_run(run, {})), testing::Not(testing::Contains(HasSubstr("the log"))));
}

TEST(Criteria, WhoAcceptsAMachineAcceptsNoGpuThatIsBadByItself) {
  Criteria accept;
  accept.accept = true;
  auto run = example_run();
  run.backend = BackendId::nccl;
  EXPECT_THAT(check_run(run, accept).not_known,
              testing::IsSupersetOf({"each GPU alone (collbench probe --only gpu on each node)",
                                     "sustained load: no operation was repeated alone"}));
  run.gpu_probes = {made_gpus("NVIDIA H100 80GB HBM3", {3e12, 3e12, 2e12, 3e12})};
  run.gpu_probes[0].host = run.ranks[0].host;
  run.sustained = run.rows[0];
  const RunCheck check = check_run(run, accept);
  EXPECT_THAT(texts(check), testing::Contains(testing::StartsWith("bad by itself: GPU 2 of ")));
  const auto ranks =
      static_cast<std::size_t>(std::ranges::count(run.ranks, run.ranks[0].host, &Identity::host));
  const auto without = [&](std::size_t gpus) {
    return fmt::format("each GPU alone: no products of {} of {}", counted(gpus, "GPU"), run.ranks[0].host);
  };
  EXPECT_THAT(check.not_known, testing::Contains(without(ranks)));
  ProbeMeasurement product{.id = "gpu-gemm-bf16", .name = "GEMM BF16", .size = 1024};
  product.parts = {run.gpu_probes[0].measurements[0].parts[0]};
  run.gpu_probes[0].measurements.push_back(product);
  EXPECT_THAT(check_run(run, accept).not_known, testing::Contains(without(ranks - 1)));
  for (Identity& rank : run.ranks) rank.host += "#" + std::to_string(rank.node);
  EXPECT_THAT(check_run(run, accept).not_known, testing::Contains(HasSubstr("no products of ")));
  EXPECT_THAT(check.not_known, testing::Not(testing::Contains(HasSubstr("sustained"))));
  EXPECT_THAT(texts(check_run(run, {})), testing::Not(testing::Contains(HasSubstr("by itself"))));
}

}  // namespace
}  // namespace collbench::analysis::criteria_test
