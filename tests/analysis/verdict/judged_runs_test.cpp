#include "analysis/verdict/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/models/nccl/healthy_ranges.hpp"
#include "analysis/models/nccl/links.hpp"
#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/analysis/verdict/judged_rows.hpp"

namespace collbench::analysis::judged_runs_test {

namespace {

VerdictWord word_of(const Run& run) { return run.rows.back().verdict.word; }

TEST(Judge, WhatTheModelSaysIsSoundOnEveryReferenceMachine) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    for (const int nodes : {1, 2, 8}) {
      if (nodes > 1 && machine.nic_transport.empty()) continue;
      const GpuCluster cluster = gpu_cluster(machine, nodes, 0);
      const collbench::Run run = judged_on_gpus(run_from_expectation(cluster, 1.01), cluster);
      // Over a network of which too little is known nothing is SOUND (NothingIsSoundWhereALostHalf…).
      const bool is_plugin = healthy_class(OperationId::all_reduce, cluster) == BandClass::plugin;
      EXPECT_EQ(word_of(run), is_plugin ? VerdictWord::unclear : VerdictWord::sound)
          << machine.name << " × " << nodes;
      for (const Row& row : run.rows) EXPECT_FALSE(row.verdict.explanation.empty());
    }
  }
}

bool is_below(const collbench::Run& run) { return is_bad(word_of(run)); }

/// The noise that published logs show between out of place and in place: nine in ten rows differ by less than
/// 1.5 % from 1 GiB on, 3.2 % from 64 MiB on, 14.2 % below (docs/notes/accuracy.md). Here each row differs by
/// as much, in turn slower and quicker.
collbench::Run with_noise(collbench::Run run, bool slower) {
  for (Row& row : run.rows) {
    const std::uint64_t size = row.measurement.key.size_bytes;
    const double noise = size >= kGiB ? 0.015 : size >= 64 * kMiB ? 0.032 : 0.142;
    row.measurement.seconds *= slower ? 1 + noise : 1 - noise;
    slower = !slower;
  }
  return run;
}

/// `sick` runs an operation as the model says, and is judged as `healthy`: BELOW with a cause, UNCLEAR, or
/// SOUND with the words that such a loss cannot be seen.
void expect_seen_or_said(const GpuCluster& healthy, const collbench::Run& sick, const std::string& hidden,
                         const std::string& what) {
  for (const bool slower : {true, false}) {
    const collbench::Run run = judged_on_gpus(with_noise(sick, slower), healthy);
    if (word_of(run) == VerdictWord::unclear) continue;
    EXPECT_THAT(run.rows.back().verdict.explanation,
                testing::ContainsRegex(is_below(run) ? "Likely cause: "
                                                     : "[Tt]his rate does not rule out .*" + hidden +
                                                           ".* at .* of (their|its) rate"))
        << what << ": " << name(word_of(run));
  }
}

/// The two ways in which one link at half its rate shows. NCCL gives every channel the same bytes, so all
/// wait for the slowest link and every link is as good as halved; where bytes go by what each link takes
/// (NVSwitch, adaptive routing), half of one link is lost.
void expect_one_link_at_half_is_seen_or_said(const GpuCluster& healthy, OperationId id,
                                             const std::string& what) {
  const auto slower_by = [&](double times) { return run_from_expectation(healthy, times, id); };
  GpuCluster sick = healthy;
  if (healthy.nvlinks > 0) {
    const double links = healthy.nvlinks;
    sick.nvlinks /= 2;
    expect_seen_or_said(healthy, run_from_expectation(sick, 1, id), "NVLinks", what);
    expect_seen_or_said(healthy, slower_by(links / (links - 0.5)), "NVLink", what);
  } else {
    sick.host_path /= 2;
    expect_seen_or_said(healthy, run_from_expectation(sick, 1, id), "the path through the host", what);
  }
  if (healthy.domains() == 1) return;
  const double nics = domain_nic_count(healthy);
  sick = healthy;
  sick.nic_line_rate /= 2;
  sick.nic_path /= 2;
  expect_seen_or_said(healthy, run_from_expectation(sick, 1, id), "NIC", what);
  sick = healthy;
  sick.nic_line_rate *= 1 - 0.5 / nics;
  expect_seen_or_said(healthy, run_from_expectation(sick, 1, id), "NIC", what);
}

TEST(Judge, OneLinkAtHalfItsRateIsSeenOrSaidNotToBe) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    const int two_domains = machine.nvlink_domain_gpus > 0 ? 36 : 2;
    for (const int nodes : {1, two_domains}) {
      if (nodes > 1 && machine.nic_transport.empty()) continue;
      for (const OperationId id :
           {OperationId::all_reduce, OperationId::all_gather, OperationId::reduce_scatter,
            OperationId::all_to_all, OperationId::send_recv}) {
        expect_one_link_at_half_is_seen_or_said(gpu_cluster(machine, nodes, 0), id,
                                                std::string(machine.name) + " × " + std::to_string(nodes) +
                                                    " " + std::string(operation(id).name));
      }
    }
  }
}

TEST(Judge, OneLinkThatAllWaitForIsBelowWithinANode) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    const GpuCluster healthy = gpu_cluster(machine, 1, 0);
    GpuCluster sick = healthy;
    if (sick.nvlinks > 0) {
      sick.nvlinks /= 2;
    } else {
      sick.host_path /= 2;
    }
    const collbench::Run run =
        judged_on_gpus(with_noise(run_from_expectation(sick, 1, OperationId::all_gather), false), healthy);
    // Healthy machines without NVLink differ by more than half.
    if (sick.nvlinks > 0)
      EXPECT_TRUE(is_below(run)) << machine.name;
    else
      EXPECT_EQ(word_of(run), VerdictWord::unclear) << machine.name;
  }
}

TEST(Judge, SimulatedGpusHaveNoVerdict) {
  const GpuCluster cluster = cluster_of("p4de", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  ASSERT_TRUE(is_judged(judged_on_gpus(run, cluster)));
  run.gpus_simulated = true;
  EXPECT_FALSE(is_judged(judged_on_gpus(run, cluster)));
  run.node_groups.push_back({{"n1"}, 8, run.rows.back()});
  judge_beside_rows(run, cluster);
  EXPECT_EQ(run.node_groups.front().row.verdict.word, VerdictWord::none);
}

TEST(Judge, AnotherGpuThanTheLogsIsAWarning) {
  const GpuCluster cluster = cluster_of("p4de", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  run.log.emplace();
  run.log->gpu = {"NVIDIA Graphics Device", 7};  // one that no catalog has
  EXPECT_THAT(judged_on_gpus(run, cluster).log->notes,
              testing::ElementsAre(testing::HasSubstr("the log's GPUs are NVIDIA Graphics Device (line 7)")));
  run.log->gpu = {"NVIDIA A100-SXM4-80GB", 7};
  EXPECT_THAT(judged_on_gpus(run, cluster).log->notes, testing::IsEmpty());
  run.log->gpu = {"NVIDIA H100 80GB HBM3", 7};
  const collbench::Run judged = judged_on_gpus(judged_on_gpus(run, cluster), cluster);  // once
  EXPECT_THAT(judged.log->notes,
              testing::ElementsAre("the log's GPUs are NVIDIA H100 80GB HBM3 (line 7), but it is judged as a "
                                   "machine with A100 SXM: --topology hgx-h100 fits (so do p5, a3-mega, "
                                   "oci-h100, ndv5)"));
  GpuCluster generation_only = cluster_of("hgx-h100", 2);
  generation_only.gpu = kUnknownGpu;
  EXPECT_THAT(judged_on_gpus(run, generation_only).log->notes, testing::IsEmpty());
}

TEST(Judge, GpusOfAnotherMakerGetNoVerdictWhateverMachineIsGiven) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  run.log.emplace();
  run.log->gpu = {"AMD Instinct MI300X", 7};
  for (const Row& row : judged_on_gpus(judged_on_gpus(run, cluster), cluster).rows) {
    EXPECT_FALSE(row.expectation.expected_seconds);
    EXPECT_EQ(row.verdict.word, VerdictWord::none);
    EXPECT_EQ(row.verdict.explanation, "");
  }
}

/// Of a class of few machines the upper edge is wide, but no NIC carries more than its line rate.
TEST(Judge, AboveTheLineRateOfItsNicsNothingIsSound) {
  GpuCluster cluster = cluster_of("a3-mega", 2);
  const auto upper_edge = [&cluster] {
    return judged_on_gpus(run_from_expectation(cluster, 1), cluster)
        .rows.back()
        .verdict.range.value_or(HealthyRange{})
        .high;
  };
  const double edge = upper_edge();
  EXPECT_LT(edge, 1.145);
  cluster.nic_line_rate *= 2;
  EXPECT_DOUBLE_EQ(upper_edge(), 1.15);
}

TEST(Judge, TheAlgorithmThatRanNarrowsTheBand) {
  const GpuCluster cluster = cluster_of("hgx-h100", 1);
  const auto judged_as = [&](const std::string& ran, const std::string& ran_below_64_mib) {
    collbench::Run run = run_from_expectation(cluster, 1.33);  // of NVLS: what the ring gives
    for (Row& row : run.rows) {
      row.measurement.algorithm_ran = row.measurement.key.size_bytes < kLargeSize ? ran_below_64_mib : ran;
    }
    return judged_on_gpus(run, cluster);
  };
  for (const char* unknown : {"auto", "auto/simple", "collnet_direct/simple", ""}) {
    EXPECT_EQ(word_of(judged_as(unknown, unknown)), VerdictWord::unclear) << unknown;
  }
  const collbench::Run nvls = judged_as("nvls/simple", "tree/ll");
  EXPECT_EQ(word_of(nvls), VerdictWord::below);
  EXPECT_EQ(nvls.rows.front().expectation.expected_by, "tree");
  EXPECT_EQ(nvls.rows.back().expectation.expected_by, "nvls");
  const collbench::Run ring = judged_as("ring/simple", "ring/ll");
  EXPECT_EQ(word_of(ring), VerdictWord::sound);
  EXPECT_THAT(ring.rows.back().verdict.explanation,
              testing::ContainsRegex("of the ring model; .*; nvls should reach [0-9.]+ GB/s\\."));
}

TEST(Judge, OnlyAQuickerChoiceIsRecommended) {
  const GpuCluster cluster = cluster_of("hgx-h100", 1);
  const auto explained = [&](double slower, const std::string& ran, const std::string& ran_last) {
    collbench::Run run = run_from_expectation(cluster, slower);
    for (Row& row : run.rows) row.measurement.algorithm_ran = ran;
    run.rows.back().measurement.algorithm_ran = ran_last;
    return judged_on_gpus(run, cluster).rows.back().verdict.explanation;
  };
  const auto recommends = testing::HasSubstr("should reach");
  EXPECT_THAT(explained(1.33, "ring/simple", "ring/simple"), recommends);
  EXPECT_THAT(explained(1.01, "nvls/simple", "nvls/simple"), testing::Not(recommends)) << "the best";
  EXPECT_THAT(explained(1.05, "ring/simple", "ring/simple"), testing::Not(recommends)) << "as quick as that";
  EXPECT_THAT(explained(1.33, "auto", "auto"),
              testing::HasSubstr("of the ring model; which of them ran is not known"));
  EXPECT_THAT(explained(1.33, "ring/simple", "nvls/simple"), testing::Not(testing::HasSubstr("fits best")))
      << "large rows by two, of which the last is known";
}

/// NCCL has no kernels of NVLS for 8-bit types, averages and extremes of floats: they run by ring or tree, as
/// fast as a sound machine's.
TEST(Judge, WhatHasNoNvlsIsNotJudgedByIt) {
  const GpuCluster cluster = cluster_of("hgx-h100", 1);
  const auto word = [&](DataType type, std::optional<Reduction> reduction, double slower) {
    collbench::Run run = run_from_expectation(cluster, slower);  // of NVLS
    run.versions.nccl = "2.28.9";
    for (Row& row : run.rows) {
      row.measurement.key.type = type;
      row.measurement.key.reduction = reduction;
    }
    return word_of(judged_on_gpus(run, with_run_facts(cluster, run, false)));
  };
  constexpr double kRing = 1.3;
  EXPECT_NE(word(DataType::float32, Reduction::sum, kRing), VerdictWord::sound);
  EXPECT_NE(word(DataType::int32, Reduction::max, kRing), VerdictWord::sound);
  for (const auto& [type, reduction] :
       std::vector<std::pair<DataType, Reduction>>{{DataType::int8, Reduction::sum},
                                                   {DataType::float8_e4m3, Reduction::sum},
                                                   {DataType::float32, Reduction::max},
                                                   {DataType::float16, Reduction::avg},
                                                   {DataType::bfloat16, Reduction::prod}}) {
    EXPECT_EQ(word(type, reduction, kRing), VerdictWord::sound) << static_cast<int>(type);
    EXPECT_NE(word(type, reduction, 2 * kRing), VerdictWord::sound) << static_cast<int>(type);
  }
}

TEST(Judge, RowsOfAskedCtasHaveNoExpectation) {
  const GpuCluster cluster = cluster_of("hgx-h100", 1);
  collbench::Run run = run_from_expectation(cluster, 8);
  for (Row& row : run.rows) row.measurement.key.algorithm = row.measurement.algorithm_ran = "ring/simple/2";
  for (const Row& row : judged_on_gpus(run, cluster).rows) {
    EXPECT_FALSE(row.expectation.expected_seconds);
    EXPECT_EQ(
        row.verdict,
        (Verdict{.explanation = "no expectation: the models are of the CTAs that NCCL takes by itself"}));
  }
}

// The healthy ranges are of machines whose data came from memory.
TEST(Judge, HotRowsThatFitIntoAnL2HaveNoExpectation) {
  const GpuCluster cluster = cluster_of("hgx-h100", 1);
  collbench::Run run = run_from_expectation(cluster, 1);
  run.buffers.walk_bytes = 0;
  for (const Row& row : judged_on_gpus(run, cluster).rows) {
    EXPECT_EQ(row.expectation.expected_seconds.has_value(), row.measurement.key.size_bytes >= kBeyondL2);
    EXPECT_EQ(row.verdict.explanation.find("(hot)") != std::string::npos,
              row.measurement.key.size_bytes < kBeyondL2);
    EXPECT_EQ(row.verdict.word, VerdictWord::sound);  // by the sizes beyond it
  }
  std::erase_if(run.rows, [](const Row& row) { return row.measurement.key.size_bytes >= kBeyondL2; });
  for (const Row& row : judged_on_gpus(run, cluster).rows) EXPECT_EQ(row.verdict.word, VerdictWord::none);
}

TEST(Judge, RowsKeepWhatWasMeasured) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  const collbench::Run before = run_from_expectation(cluster, 1);
  const collbench::Run after = judged_on_gpus(before, cluster);
  ASSERT_EQ(after.rows.size(), before.rows.size());
  for (std::size_t i = 0; i < before.rows.size(); ++i) {
    EXPECT_EQ(after.rows[i].measurement, before.rows[i].measurement);
  }
}

TEST(Judge, ARowOfWrongDataHasNoVerdictAndTakesNoPartInTheOthers) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  const collbench::Run right = run_from_expectation(cluster, 1);
  const auto rows = static_cast<unsigned>(right.rows.size());
  for (unsigned wrong = 1; wrong < 1U << rows; ++wrong) {  // every choice of rows
    collbench::Run run = right;
    for (unsigned i = 0; i < rows; ++i) {
      Measurement& measured = run.rows[i].measurement;
      measured.wrong_elements = wrong >> i & 1U;
      if (has_wrong_data(measured)) measured.seconds *= 100;  // a FAULT, if its time counted
    }
    run = judged_on_gpus(run, cluster);
    EXPECT_FALSE(is_bad(machine_word(run))) << wrong;
    for (unsigned i = 0; i < rows; ++i) {
      const Verdict& verdict = run.rows[i].verdict;
      if (wrong >> i & 1U)
        EXPECT_EQ(verdict, Verdict{}) << wrong << ", row " << i;
      else
        EXPECT_NE(verdict.explanation, "") << wrong << ", row " << i;
    }
    EXPECT_EQ(judged_series_of(run.rows).empty(), wrong == (1U << rows) - 1);
  }
}

TEST(Judge, ABadSeriesIsExplainedFurtherAndASoundOneIsNot) {
  const GpuCluster cluster = gpu_cluster(*topology::find_reference_machine("hgx-h100"), 2, 0);
  for (const double slower : {1.01, 2.5}) {
    collbench::Run run = judged_on_gpus(run_from_expectation(cluster, slower), cluster);
    const bool bad = is_bad(machine_word(run));
    EXPECT_EQ(bad, slower > 1.5);
    explain_bad(run, "On its path: a finding.");
    const std::string& explanation = run.rows.back().verdict.explanation;
    EXPECT_EQ(explanation.ends_with(". On its path: a finding."), bad) << explanation;
    const std::string before = explanation;
    explain_bad(run, "");
    EXPECT_EQ(run.rows.back().verdict.explanation, before);
  }
}

}  // namespace

}  // namespace collbench::analysis::judged_runs_test
