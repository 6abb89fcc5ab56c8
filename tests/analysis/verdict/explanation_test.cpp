#include "analysis/verdict/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/models/nccl/healthy_ranges.hpp"
#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/analysis/verdict/judged_rows.hpp"

namespace collbench::analysis::explanation_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string cause(const GpuCluster& cluster, double slower) {
  Row row = run_from_expectation(cluster, slower).rows.back();
  row.expectation = expect_on_gpus(OperationId::all_reduce, row.measurement.key.size_bytes, cluster);
  return loss_cause(row, cluster);
}

TEST(LossCause, AcrossNodesWhatTheLogSaysComesFirst) {
  GpuCluster cluster = cluster_of("ndv4", 2);
  EXPECT_THAT(cause(cluster, 3), HasSubstr("unused NICs, GPUDirect off, or older software"));
  EXPECT_THAT(cause(cluster, 30), HasSubstr("typical of sockets (TCP, IP over InfiniBand)"));
  cluster.run.network = "IB with GPUDirect RDMA";
  EXPECT_THAT(cause(cluster, 30), HasSubstr("the log says network IB with GPUDirect RDMA"));
  cluster.run.logged = cluster.transport = Transport::sockets;
  EXPECT_THAT(cause(cluster, 3), HasSubstr("the log says sockets"));
}

TEST(LossCause, ANumberOfNicsThatExplainsTheRateIsNamed) {
  const std::string start = "each node using about ";
  GpuCluster cluster = cluster_of("hgx-h100", 2);
  EXPECT_THAT(cause(cluster, 2.6),
              StartsWith(start + "2 of its 8 NICs by nvls_tree or 4 by ring (NCCL_IB_HCA, "));
  cluster.run.algorithm = "ring";
  EXPECT_THAT(cause(cluster, 2),
              StartsWith(start + "4 of its 8 NICs (NCCL_IB_HCA, a port that is down, or "));
  EXPECT_THAT(cause(cluster, 8), StartsWith(start + "1 of its 8 NICs ("));
  EXPECT_THAT(cause(cluster, 8.0 / 3), StartsWith("unused NICs, ")) << "3 of 8: no cause takes five away";
  EXPECT_THAT(cause(cluster, 12), Not(HasSubstr("each node using")));
  cluster.transport = Transport::efa_rdma;
  EXPECT_THAT(cause(cluster, 8), Not(HasSubstr("NCCL_IB_HCA")));
}

TEST(LossCause, AGivenTransportDoesNotHideTheLogs) {
  GpuCluster cluster = cluster_of("ndv4", 2);
  cluster.run.network = "Socket over virbr0, a virtual bridge";
  cluster.run.logged = Transport::sockets;  // while --transport ib was given
  EXPECT_THAT(cause(cluster, 30), HasSubstr("the log says sockets (Socket over virbr0, a virtual bridge)"));
  cluster.run.logged = Transport::staged;
  EXPECT_THAT(cause(cluster, 30), HasSubstr("the log shows no GPUDirect RDMA"));
  collbench::Run run = run_from_expectation(cluster, 1);
  run.log.emplace();
  EXPECT_THAT(judged_on_gpus(run, cluster).log->notes,
              testing::ElementsAre(HasSubstr("but it is judged as InfiniBand RDMA")));
}

TEST(LossCause, WithinANodeTheNvlinksThatNcclSaw) {
  GpuCluster cluster = cluster_of("hgx-a100", 1, 2);
  EXPECT_THAT(cause(cluster, 3), HasSubstr("NVLinks that are down or peer access turned off"));
  cluster.run.channels = 2;
  EXPECT_THAT(cause(cluster, 3), HasSubstr("found 1 of 12 NVLinks"));
  cluster.run.min_nvlinks = 20;
  EXPECT_THAT(cause(cluster, 3),
              HasSubstr("20 GB/s over NVLink between two GPUs, where 12 NVLinks give 240"));
  EXPECT_THAT(cause(cluster_of("a100-pcie", 1), 3), HasSubstr("the path through the host"));
}

TEST(LossCause, WhatTheRunItselfShowsComesBeforeWhatMayBe) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  collbench::Run run = run_from_expectation(cluster, 3);
  run.load_notes = {"n1: other processes kept 3.0 of its 8 hardware threads busy"};
  run.rows.back().measurement.marks = {{"n1", "GPU-7", GpuTrouble::hw_thermal_slowdown}};
  const std::string text = judged_on_gpus(run, cluster).rows.back().verdict.explanation;
  EXPECT_THAT(text, HasSubstr("Likely cause: this run shows "));
  EXPECT_THAT(text,
              HasSubstr(" on GPU-7 of n1, and other work on the hosts' cores (above); if that is not all: "
                        "unused NICs"));
}

using testing::AllOf;
using testing::HasSubstr;

std::string explanation(const GpuCluster& cluster, double slower) {
  return judged_on_gpus(run_from_expectation(cluster, slower), cluster).rows.back().verdict.explanation;
}

TEST(Explanation, ASixtiethOfTheNicsLooksLikeSockets) {
  EXPECT_THAT(explanation(cluster_of("ndv4", 2), 60),
              AllOf(HasSubstr("equivalent to 0.1 of one of its 8 NICs"),
                    HasSubstr("sockets (TCP, IP over InfiniBand)")));
}

TEST(Explanation, ARateOfTheRingIsNvlsThatDidNotRunBeforeItIsAPart) {
  for (const int nodes : {1, 2}) {
    const GpuCluster cluster = cluster_of("hgx-h100", nodes);
    const Row row = judged_on_gpus(run_from_expectation(cluster, 1), cluster).rows.back();
    const double ring = *row.expectation.ring_seconds / *row.expectation.expected_seconds;
    for (const double share : {0.95, 1.0, 1.06}) {
      const std::string text = explanation(cluster, ring / share);
      EXPECT_THAT(text, AllOf(HasSubstr("% of the ring model"),
                              testing::AnyOf(HasSubstr("NVLS did not run"), HasSubstr("which of them ran"))))
          << nodes << " " << share;
      EXPECT_THAT(text, Not(HasSubstr("cause: NVLinks that are down"))) << nodes << " " << share;
    }
    EXPECT_THAT(explanation(cluster, 1.5 * ring), Not(HasSubstr("NVLS did not run"))) << nodes;
  }
}

/// As a table of one row was published (8 H100 at 368 GB/s): quicker than the ring's range, BELOW of NVLS.
TEST(Explanation, ALittleMoreThanTheRingIsItToo) {
  const GpuCluster cluster = cluster_of("hgx-h100", 1);
  collbench::Run run = run_from_expectation(cluster, 1);
  std::erase_if(run.rows, [](const Row& row) { return row.measurement.key.size_bytes != kGiB; });
  ASSERT_EQ(run.rows.size(), 1U);
  Row& row = run.rows.front();
  row.measurement.seconds = *judged_on_gpus(run, cluster).rows.front().expectation.ring_seconds / 1.053;
  const collbench::Run judged = judged_on_gpus(run, cluster);
  EXPECT_EQ(judged.rows.front().verdict.word, VerdictWord::below);
  EXPECT_THAT(judged.rows.front().verdict.explanation,
              AllOf(HasSubstr("105 % of the ring model"), HasSubstr("Likely cause: NVLS did not run")));
}

TEST(Explanation, WhatTheLogSaysGoesFirst) {
  GpuCluster cluster = cluster_of("ndv4", 2);
  cluster.run.logged = cluster.transport = Transport::sockets;
  EXPECT_THAT(explanation(cluster, 20), HasSubstr("the log says sockets"));
  cluster.run.logged = cluster.transport = Transport::staged;
  EXPECT_THAT(explanation(cluster, 4), HasSubstr("no GPUDirect RDMA"));
}

TEST(Explanation, WhatTheLogSaysIsNotAskedForAgain) {
  GpuCluster cluster = cluster_of("ndv4", 2);
  cluster.run.network = "IB with GPUDirect RDMA";
  EXPECT_THAT(explanation(cluster, 3),
              AllOf(HasSubstr("or older software (the log says network IB with GPUDirect RDMA)"),
                    testing::Not(HasSubstr("NCCL_DEBUG=INFO"))));
  cluster.run.algorithm = "ring";
  EXPECT_THAT(
      explanation(cluster, 1),
      HasSubstr(". The log says network IB with GPUDirect RDMA, algorithm ring; this rate does not rule out "
                "the 8 NICs at 94 % of their rate"));
}

TEST(Explanation, WhatTopologyCannotSeeIsSaid) {
  EXPECT_THAT(
      explanation(cluster_of("ndv5", 4), 1),
      HasSubstr("This rate does not rule out the 8 NICs at 94 % of their rate or the 18 NVLinks at 72 % of "
                "their rate if nvls_tree runs."));
}

TEST(Explanation, TheNumberIsWorthSoManyLinks) {
  // A third of 8 × 23.75 GB/s, less the latency; in a rack of 18 nodes, the NICs of all of them and the
  // NVLinks, which limit.
  EXPECT_THAT(explanation(cluster_of("ndv4", 2), 3),
              HasSubstr("GB/s leaves each node, equivalent to 2.7 of its 8 NICs. SOUND from"));
  EXPECT_THAT(explanation(cluster_of("gb200-nvl72", 36), 6),
              AllOf(HasSubstr("leaves each domain, equivalent to "), HasSubstr("of its 72 NICs, and"),
                    HasSubstr("of its 18 NVLinks. SOUND from")));
}

TEST(Explanation, BetweenSoundAndBelowItIsLeftOpen) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  const HealthyEdges& edges = healthy_edges(OperationId::all_reduce, BandClass::rdma, 8.0 * kGiB, 16);
  const auto judged = [&](double of_expected) {
    collbench::Run run = run_from_expectation(cluster, 1 / of_expected);
    for (Row& row : run.rows) row.measurement.algorithm_ran = "ring";
    return judged_on_gpus(run, cluster).rows.back().verdict;
  };
  EXPECT_EQ(judged(edges.sound * 1.01).word, VerdictWord::sound);
  const Verdict between = judged((edges.sound + edges.below) / 2);
  EXPECT_EQ(between.word, VerdictWord::unclear);
  EXPECT_THAT(between.explanation,
              AllOf(HasSubstr("SOUND from 0.93 of it, BELOW under 0.82 (RDMA between nodes, 10 machines)"),
                    HasSubstr("If something is wrong: each node using about 7 of its 8 NICs")));
  EXPECT_EQ(judged(edges.below * 0.98).word, VerdictWord::below);
  EXPECT_EQ(judged(0.4).word, VerdictWord::fault);
}

TEST(Explanation, TwoChannelsOfTwelveNvlinksAreOneLink) {
  GpuCluster cluster = cluster_of("hgx-a100", 1, 2);
  cluster.run.channels = 2;
  EXPECT_THAT(explanation(cluster, 8), HasSubstr("found 1 of 12 NVLinks"));
}

TEST(Explanation, MoreThanTheBestNamesAMachineThatFits) {
  const GpuCluster small = cluster_of("p4de", 2);
  const collbench::Run run = judged_on_gpus(run_from_expectation(cluster_of("ndv4", 2), 1), small);
  EXPECT_EQ(run.rows.back().verdict.word, VerdictWord::unclear);
  EXPECT_THAT(run.rows.back().verdict.explanation,
              AllOf(HasSubstr("2 × 8 A100 SXM"), HasSubstr("would fit within")));
}

TEST(Explanation, AFaultyRunIsBandwidthBoundWhereItMovesAsMuchAsItEverDoes) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  GpuCluster sick = cluster;
  sick.nic_line_rate /= 60;
  const collbench::Run run = judged_on_gpus(run_from_expectation(sick, 1), cluster);
  const std::string& middle = run.rows[run.rows.size() / 2].verdict.explanation;
  EXPECT_THAT(middle, HasSubstr("below its bandwidth limit"));
}

TEST(Explanation, SmallRowsAloneSayWhatIsMissing) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  run.rows.resize(2);
  run = judged_on_gpus(run, cluster);
  EXPECT_EQ(run.rows.back().verdict.explanation,
            "No row of 64 MiB or more; the largest row, 4 MiB, is latency-bound; "
            "100 % of the tree model: NCCL 2.21.5 to 2.32.3 choose tree/ll128 here (table: as on hgx-a100 × "
            "2). Measure sizes of 1 GiB or more.");
}

TEST(Explanation, WhatRanIsNotAskedOfTheTable) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  for (Row& row : run.rows) row.measurement.algorithm_ran = "ring/ll128";
  run = judged_on_gpus(run, cluster);
  EXPECT_THAT(run.rows[1].verdict.explanation,
              AllOf(HasSubstr("of the ring model"), testing::Not(HasSubstr("choose"))));
  GpuCluster ring = cluster;
  ring.run.algorithm = "ring";
  const double simple = *expect_on_gpus(OperationId::all_reduce, 4 * kMiB, ring).expected_seconds;
  EXPECT_GT(*run.rows[1].expectation.expected_seconds, simple);  // LL128 carries 92 % of what Simple does
}

TEST(Explanation, ARowIsLatencyOrBandwidthBound) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  const collbench::Run run = judged_on_gpus(run_from_expectation(cluster, 1), cluster);
  EXPECT_THAT(run.rows.front().verdict.explanation, testing::StartsWith("latency-bound"));
  EXPECT_THAT(run.rows[run.rows.size() - 2].verdict.explanation,
              testing::StartsWith("bandwidth-bound (8 NICs per node, 25 GB/s each"));
}

// As 128 MiB at 129 GB/s of two p5 nodes (published), where 2 GiB reach 438. It is slow, and waits for no
// latency.
TEST(Explanation, ALargeRowBelowHalfOfThePeakIsNotLatencyBound) {
  const GpuCluster cluster = cluster_of("p5", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  for (Row& row : run.rows) {
    if (row.measurement.key.size_bytes == 256 * kMiB) row.measurement.seconds *= 2.8;
  }
  run = judged_on_gpus(run, cluster);
  for (const Row& row : run.rows) {
    if (row.measurement.key.size_bytes != 256 * kMiB) continue;
    EXPECT_THAT(row.verdict.explanation, testing::StartsWith("below its bandwidth limit"));
  }
}

TEST(Explanation, TheAlgorithmNearestToTheTimeExplainsIt) {
  const GpuCluster cluster = cluster_of("p4de", 2);
  Row row = run_from_expectation(cluster, 1).rows.back();
  EXPECT_EQ(explaining_algorithm(row, cluster), GpuAlgorithm::tree);
  row.measurement.seconds *= 1.9;
  EXPECT_EQ(explaining_algorithm(row, cluster), GpuAlgorithm::ring);
}

TEST(LossCause, WhatTheLogStatesIsNamed) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  collbench::Run run = run_from_expectation(cluster, 3);
  EXPECT_THAT(losses_stated(run, cluster), testing::IsEmpty());
  run.environment = {{"NCCL_P2P_DISABLE", "1"},
                     {"NCCL_SHM_DISABLE", "0"},
                     {"NCCL_MAX_NCHANNELS", "2"},
                     {"NCCL_IB_HCA", "mlx5_0"}};
  run.log.emplace();
  run.log->nics = {{"mlx5_0"}, 42};
  run.log->connections = {{"SHM/direct/direct", false, 32, 7}, {"P2P/CUMEM", false, 32, 8}};
  run.log->losses = {"7 NICs on n18 (line 45), 8 on n17 (line 26)"};
  EXPECT_THAT(losses_stated(run, cluster),
              testing::ElementsAre("NCCL_P2P_DISABLE=1", "NCCL_MAX_NCHANNELS=2", run.log->losses[0],
                                   "1 of the 8 NICs of a node (line 42, NCCL_IB_HCA=mlx5_0)",
                                   "32 connections within a node through host memory in place of NVLink (via "
                                   "SHM/direct/direct, line 7)"));
  EXPECT_THAT(
      judged_on_gpus(run, cluster).rows.back().verdict.explanation,
      HasSubstr(
          "Likely cause: this run shows NCCL_P2P_DISABLE=1, and NCCL_MAX_NCHANNELS=2, and 7 NICs on n18"));
  run.log->nics.reset();
  EXPECT_THAT(losses_stated(run, cluster), Contains("NCCL_IB_HCA=mlx5_0, 1 of the 8 NICs of a node"));
  for (const char* no_list : {"^mlx5_0", "mlx5", "=mlx5"}) {
    run.environment["NCCL_IB_HCA"] = no_list;
    EXPECT_THAT(losses_stated(run, cluster), Not(Contains(HasSubstr("NCCL_IB_HCA")))) << no_list;
  }
  run.environment.clear();
  run.log->nics = {{"a", "b", "c", "d", "e", "f", "g", "h"}, 1};
  EXPECT_EQ(losses_stated(run, cluster).size(), 2U);
}

TEST(LossCause, ASettingIsACauseOnlyWhereItTakesSomethingAway) {
  const auto stated = [](int nodes, int ranks_per_node, bool may_choose = true) {
    const GpuCluster cluster =
        gpu_cluster(*topology::find_reference_machine("hgx-h100"), nodes, ranks_per_node);
    collbench::Run run = run_from_expectation(cluster, 3);
    run.environment = {{"NCCL_SHM_DISABLE", "1"}, {"NCCL_IB_DISABLE", "1"}, {"NCCL_ALGO", "Ring"}};
    return costly_settings(run, may_choose);
  };
  EXPECT_THAT(stated(2, 8),
              testing::ElementsAre("NCCL_SHM_DISABLE=1", "NCCL_IB_DISABLE=1", "NCCL_ALGO=Ring"));
  EXPECT_THAT(stated(2, 1), testing::ElementsAre("NCCL_IB_DISABLE=1", "NCCL_ALGO=Ring"));
  EXPECT_THAT(stated(1, 8), testing::ElementsAre("NCCL_SHM_DISABLE=1", "NCCL_ALGO=Ring"));
  EXPECT_THAT(stated(2, 8, false), testing::ElementsAre("NCCL_SHM_DISABLE=1", "NCCL_IB_DISABLE=1"));
  // A ring is all that there is for AllGather on A100, which has no NVLS.
  const GpuCluster a100 = cluster_of("dgx-a100", 2);
  collbench::Run run = judged_on_gpus(run_from_expectation(a100, 3), a100);
  EXPECT_TRUE(has_algorithms(run.rows.back()));
  run.rows.back().expectation =
      expect_on_gpus(OperationId::all_gather, run.rows.back().measurement.key.size_bytes, a100);
  EXPECT_FALSE(has_algorithms(run.rows.back()));
}

TEST(LossCause, SomeConnectionsWithoutGpudirectAreNotAll) {
  GpuCluster cluster = cluster_of("ndv4", 2);
  cluster.run.logged = Transport::staged;
  EXPECT_THAT(cause(cluster, 3), HasSubstr("all data passed through host memory"));
  cluster.run.is_partly_direct = true;
  EXPECT_THAT(cause(cluster, 3), testing::Not(HasSubstr("all data")));
}

TEST(LossCause, LostNvlsLowersNothing) {
  GpuCluster cluster = cluster_of("hgx-h100", 2);
  cluster.run.nccl_version = 22707;
  const Expectation sound = expect_on_gpus(OperationId::all_reduce, 8 * kGiB, cluster);
  collbench::Run run = run_from_expectation(cluster, 1);
  for (Row& row : run.rows) {
    const auto expected = expect_on_gpus(OperationId::all_reduce, row.measurement.key.size_bytes, cluster);
    row.measurement.seconds = *expected.ring_seconds;
    row.measurement.algorithm_ran = "ring";
  }
  cluster.run.lost_nvls = "NCCL set up no NVLS channels (line 9)";
  const collbench::Run judged = judged_on_gpus(run, cluster);
  EXPECT_EQ(judged.rows.back().verdict.word, VerdictWord::below);
  EXPECT_EQ(judged.rows.back().expectation.expected_by, sound.expected_by);
  EXPECT_THAT(
      judged.rows.back().verdict.explanation,
      HasSubstr("NVLS did not run, which this NCCL takes here: NCCL set up no NVLS channels (line 9)"));
  cluster.run.nccl_version = 0;
  EXPECT_EQ(judged_on_gpus(run, cluster).rows.back().verdict.word, VerdictWord::unclear)
      << "of an NCCL that nobody names";
}

}  // namespace

}  // namespace collbench::analysis::explanation_test
