#include "analysis/report/sections.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::header_test {
namespace {

PlacedRank placed(int rank) {
  const std::string number = std::to_string(rank);
  return {.rank = rank,
          .gpu = "GPU" + number,
          .gpu_address = "",
          .nic = "mlx5_" + number,
          .numa_node = 0,
          .guess = false,
          .note = ""};
}

TEST(PlacementWords, NamesGpuNicAndNumaNode) {
  PlacedRank second = placed(1);
  second.guess = true;
  EXPECT_EQ(format_placement({placed(0), second}),
            "GPUs of the ranks: rank 0: GPU0, mlx5_0, NUMA 0; rank 1: GPU1 (guess), mlx5_1, NUMA 0");
}

TEST(PlacementWords, PutsWhatIsOddFirstAndStaysShort) {
  std::vector<PlacedRank> all;
  for (int rank = 0; rank < 16; ++rank) all.push_back(placed(rank));
  all[9] = {.rank = 9,
            .gpu = "",
            .gpu_address = "",
            .nic = "",
            .numa_node = {},
            .guess = false,
            .note = "no GPU of its host is visible to it"};
  EXPECT_EQ(format_placement(all),
            "GPUs of the ranks: rank 9: no GPU (no GPU of its host is visible to it); "
            "rank 0: GPU0, mlx5_0, NUMA 0; rank 1: GPU1, mlx5_1, NUMA 0; rank 2: GPU2, mlx5_2, NUMA 0; "
            "12 more in the record");
}

TEST(PlacementWords, SaysNothingOfRanksOfWhichNothingIsKnown) {
  EXPECT_EQ(format_placement({}), "");
  PlacedRank none = placed(0);
  none.gpu = "";
  EXPECT_EQ(format_placement({none}), "");
}

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::vector<std::string> texts(const ReportLines& facts) {
  std::vector<std::string> result;
  for (const ReportLine& fact : facts) result.push_back(fact.text);
  return result;
}

TEST(SetupFacts, SayWhatWasMeasuredWhereAndWithWhat) {
  EXPECT_THAT(
      texts(header_lines(example_run())),
      ElementsAre(
          "collbench 0.1.0, host memory through MPI, 4 ranks on 2 hosts, started 2026-10-01T12:00:00Z",
          "Open MPI v4.1.4, package: Debian OpenMPI; hwloc 2.9.0",
          "node01 has ranks 0-1 on 2 cores, node02 has ranks 2-3 on 2 cores",
          "environment: OMPI_MCA_btl=self,tcp",
          "calibrated within a host: α 0.5 µs, B 6.20 GB/s, eager up to 4 KiB",
          "calibrated across hosts: α 12 µs, B 1.17 GB/s, eager up to 64 KiB, all ranks of a host 1.19 GB/s",
          "calibrated on all ranks at once: reduction γ 0.21 ns/B (float sum); copy κ 0.090 ns/B; "
          "worst calibration point is 12 % off the fitted line"));
}

TEST(SetupFacts, ACalibrationThatSaysNothingOfAPointIsAWarning) {
  auto run = example_run();
  run.calibration->fit_relative_error = 0.998;
  const ReportLine last = header_lines(run).back();
  EXPECT_EQ(last.tone, Tone::warning);
  EXPECT_THAT(last.text, HasSubstr("exp and meas/exp may be off by as much"));
  run.calibration->fit_relative_error = 0.9;
  EXPECT_EQ(header_lines(run).back().tone, Tone::quiet);
}

TEST(SetupFacts, WhatCutTheRunShortStandsFirst) {
  auto run = example_run();
  run.incident = Incident{.kind = IncidentKind::rank_lost,
                          .sentence = "AllReduce 8 B: rank 1 (node1) is gone",
                          .ranks = {{1, "node1"}},
                          .step = "AllReduce 8 B",
                          .pass = 7,
                          .call = 3,
                          .time = "2026-11-23T11:37:52Z",
                          .exit_status = 4};
  const ReportLine first = header_lines(run).at(0);
  EXPECT_EQ(
      first.text,
      "INCIDENT (rank lost, 2026-11-23T11:37:52Z, exit status 4): AllReduce 8 B: rank 1 (node1) is gone");
  EXPECT_EQ(first.tone, Tone::alarm);
}

TEST(SetupFacts, LeaveOutWhatIsNotKnown) {
  auto run = example_run();
  run.environment.clear();
  run.calibration.reset();
  run.cores_per_node.clear();
  run.ranks = {{0, "node01", 0, 0}};
  EXPECT_THAT(texts(header_lines(run)),
              ElementsAre(HasSubstr("1 rank on 1 host,"), HasSubstr("Open MPI"), "node01 has rank 0"));
}

TEST(SetupFacts, SayHowTheBuffersWereRegistered) {
  auto run = example_run();
  run.buffers = {.allocator = "ncclMemAlloc", .registration = BufferRegistration::symmetric};
  EXPECT_THAT(
      texts(header_lines(run)),
      Contains(
          "buffers: memory of ncclMemAlloc, registered with NCCL (-R symmetric: ncclCommWindowRegister)"));
  run.buffers = {.allocator = "", .registration = BufferRegistration::local};
  EXPECT_THAT(texts(header_lines(run)),
              Contains("buffers: registered with NCCL (-R local: ncclCommRegister)"));
  run.buffers = {.allocator = "cudaMalloc", .registration = BufferRegistration::none};
  EXPECT_THAT(texts(header_lines(run)), Not(Contains(HasSubstr("buffers:"))));
  run.buffers = {.allocator = "", .registration = std::nullopt};
  EXPECT_THAT(texts(header_lines(run)), Not(Contains(HasSubstr("buffers:"))));
}

TEST(SetupFacts, SayThatBuffersAreNotAligned) {
  auto run = example_run();
  EXPECT_THAT(texts(header_lines(run)), Not(Contains(HasSubstr("alignment"))));
  run.buffers.unaligned_elements = 3;
  EXPECT_THAT(texts(header_lines(run)), Contains("buffers: start 3 elements past their alignment (-u 3)"));
}

TEST(SetupFacts, SayWhenTheTimeIsSimulated) {
  auto run = example_run();
  run.simulated = true;
  EXPECT_THAT(header_lines(run)[0].text, HasSubstr("in SimGrid's simulated time"));
}

TEST(SetupFacts, BeginWithWhatSimulatedGpusAre) {
  auto run = example_run();
  EXPECT_NE(header_lines(run).front().text, kSimulatedGpus);
  run.gpus_simulated = true;
  run.incident.emplace();
  EXPECT_EQ(header_lines(run).front().text, kSimulatedGpus);
}

TEST(SetupFacts, NameTheLibrariesOfTheOtherBackend) {
  auto run = example_run();
  run.backend = BackendId::nccl;
  run.versions.nccl = "2.30.4";
  run.versions.cuda = "12.9";
  EXPECT_THAT(header_lines(run)[0].text, HasSubstr("GPUs through NCCL"));
  EXPECT_THAT(header_lines(run)[1].text, HasSubstr("NCCL 2.30.4; CUDA 12.9"));
}

TEST(SetupFacts, WhatIsWrongWithTheEnvironmentIsAWarning) {
  auto run = example_run();
  run.environment_notes = {"node01: 2 ranks on 1 core"};
  const ReportLines facts = header_lines(run);
  EXPECT_THAT(texts(facts), Contains("warning: node01: 2 ranks on 1 core"));
  EXPECT_EQ(facts[4].tone, Tone::warning);
}

TEST(SetupFacts, ScatteredRanksAreListedInRuns) {
  auto run = example_run();
  run.ranks = {{0, "a", 0, 0}, {1, "b", 1, 0}, {2, "a", 0, 1}, {3, "a", 0, 2}};
  EXPECT_THAT(texts(header_lines(run)), Contains("a has ranks 0,2-3 on 2 cores, b has rank 1 on 2 cores"));
}

TEST(SetupFacts, ManyHostsAreCounted) {
  auto run = example_run();
  run.ranks.clear();
  run.cores_per_node.clear();
  for (int rank = 0; rank < 2048; ++rank)
    run.ranks.push_back({rank, "n" + std::to_string(rank / 8), rank / 8, rank % 8});
  EXPECT_THAT(texts(header_lines(run)),
              Contains(testing::EndsWith("n7 has ranks 56-63, and 248 more hosts")));
}

TEST(SetupFacts, LongValuesAndLongListsAreCut) {
  auto run = example_run();
  run.environment = {{"NCCL_TOPO_FILE", std::string(500, 'x')}};
  run.calibration->gammas.assign(10, {DataType::float32, Reduction::sum, 1e-10});
  EXPECT_THAT(texts(header_lines(run)),
              Contains("environment: NCCL_TOPO_FILE=" + std::string(59, 'x') + "…"));
  EXPECT_THAT(texts(header_lines(run)), Contains(HasSubstr("6 more in the record; copy")));
}

TEST(LegendFacts, SayWhichRanksTimeItIs) {
  auto run = example_run();
  EXPECT_THAT(legend_lines(run)[0].text, HasSubstr("the slowest rank's; the median of the passes"));
  run.time_reduction = RankAggregate::average;
  EXPECT_THAT(legend_lines(run)[0].text, HasSubstr("the average over ranks;"));
  run.time_reduction = RankAggregate::minimum;
  EXPECT_THAT(legend_lines(run)[0].text, HasSubstr("the fastest rank's;"));
  run.time_reduction = RankAggregate::rank0;
  EXPECT_THAT(legend_lines(run)[0].text, HasSubstr("rank 0's;"));
  EXPECT_THAT(legend_lines(run)[1].text, HasSubstr("this launch only"));
  EXPECT_THAT(legend_lines(run)[3].text, HasSubstr("below 1 is slower"));
}

TEST(LegendFacts, OfARepetitionTheIntervalIsOverLaunches) {
  auto run = example_run();
  run.repeated = true;
  run.launches = 9;
  EXPECT_THAT(legend_lines(run)[0].text,
              HasSubstr("the median of the passes, then the median over launches"));
  EXPECT_THAT(legend_lines(run)[1].text, HasSubstr("of that median over launches"));
  EXPECT_THAT(header_lines(run)[0].text, HasSubstr("2 hosts, 9 launches, started"));
}

TEST(LegendFacts, HaveWhatNcclReportsOrWhyItDoesNot) {
  collbench::Run run;
  EXPECT_EQ(legend_lines(run).size(), 4U);
  run.backend = BackendId::nccl;
  ASSERT_EQ(legend_lines(run).size(), 7U);
  EXPECT_THAT(legend_lines(run)[4].text, HasSubstr("NCCL: the time that NCCL's own model predicts"));
  EXPECT_THAT(legend_lines(run)[5].text, HasSubstr("algorithm: what NCCL used"));
  EXPECT_THAT(legend_lines(run)[6].text,
              HasSubstr("ring and tree of AllReduce: each at its own rate, with the latency"));
  run.nccl_observer_status = {"a plugin of yours", "NCCL 2.18"};
  EXPECT_EQ(legend_lines(run)[4].text, "NCCL: not reported: NCCL 2.18");
  EXPECT_EQ(legend_lines(run)[5].text, "algorithm: not reported: a plugin of yours");
}

TEST(OperationFact, SaysWhatTheSizeIsAndHowBusbwFollows) {
  EXPECT_EQ(operation_line(OperationId::all_reduce, 16).text,
            "AllReduce: size is one rank's buffer; busbw = algbw × 1.875");
  EXPECT_EQ(operation_line(OperationId::all_to_all, 4).text,
            "AllToAll: size is ranks × count × the type's bytes; busbw = algbw × 0.75");
  EXPECT_EQ(operation_line(OperationId::send_recv, 4).text,
            "SendRecv: size is what one rank sends; busbw = algbw × 1");
}

TEST(OperationsIn, AreThoseOfTheRowsInTheirOrder) {
  EXPECT_THAT(operations_in(example_run()), ElementsAre(OperationId::all_reduce, OperationId::send_recv));
}

TEST(SetupFacts, SayWhatTheRanksWorkWithAfterTheMachines) {
  auto run = example_run();
  run.cluster = Cluster{.shapes = "{}", .nodes = {}, .summary = {"1 node"}};
  run.cluster->placement = {
      {.rank = 0, .gpu = "GPU5", .gpu_address = "", .nic = "", .numa_node = {}, .guess = false, .note = ""}};
  EXPECT_THAT(texts(header_lines(run)),
              IsSupersetOf({std::string("1 node"), std::string("GPUs of the ranks: rank 0: GPU5")}));
}

}  // namespace

}  // namespace collbench::analysis::header_test
