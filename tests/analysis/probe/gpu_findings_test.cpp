#include "analysis/probe/gpu_findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analysis/probe/made_probes.hpp"

namespace collbench::analysis::gpu_findings_test {
namespace {

const std::string kH100 = "NVIDIA H100 80GB HBM3";

/// Copies between all pairs of `count` GPUs at 400 GB/s.
ProbeRecord made_peers(const std::string& host, int count) {
  ProbeRecord record{.host = host, .processor = "Processor 7", .gpu_window_seconds = 2};
  ProbeMeasurement peers{.id = "gpu-peer", .name = "copy between GPUs", .unit = ProbeUnit::byte};
  for (int from = 0; from < count; ++from) {
    const std::string sender = "GPU " + std::to_string(from);
    record.gpus.push_back({.name = sender, .model = kH100});
    for (int to = 0; to < count; ++to) {
      if (from == to) continue;
      const std::string receiver = "GPU " + std::to_string(to);
      peers.parts.push_back({.name = sender + " to " + receiver,
                             .model = kH100,
                             .windows = {400e9, 400e9},
                             .peer = PeerCopy{sender, receiver, true}});
    }
  }
  record.measurements.push_back(peers);
  return record;
}

bool names(const ProbeVerdict& verdict, const std::string& start) {
  return std::any_of(verdict.slow.begin(), verdict.slow.end(),
                     [&](const SlowPart& slow) { return slow.evidence.starts_with(start); });
}

TEST(GpuFindings, AGpuThatSendsSlowlyIsNamedByAllItsPairs) {
  ProbeRecord host = made_peers("g1", 4);
  EXPECT_TRUE(judge_probes({host}).slow.empty());
  for (ProbePart& part : host.measurements[0].parts) {
    if (part.peer->from == "GPU 2") part.windows = {200e9, 200e9};
  }
  const ProbeVerdict verdict = judge_probes({host});
  ASSERT_EQ(verdict.slow.size(), 1U);
  EXPECT_EQ(verdict.slow[0].evidence,
            "GPU 2 to the others of g1: copy between GPUs makes 0.500 of the median of 4 GPU senders");
}

TEST(GpuFindings, APairIsComparedWithTheSamePairOfOtherHosts) {
  std::vector<ProbeRecord> hosts{made_peers("g1", 4), made_peers("g2", 4), made_peers("g3", 4)};
  // On every host the first pair is slow by the board: nobody's fault.
  for (ProbeRecord& host : hosts) {
    for (ProbePart& part : host.measurements[0].parts) {
      if (part.name == "GPU 0 to GPU 1" || part.name == "GPU 1 to GPU 0") part.windows = {390e9, 390e9};
    }
  }
  EXPECT_TRUE(judge_probes(hosts).slow.empty());
  hosts[1].measurements[0].parts[0].windows = {300e9, 300e9};
  EXPECT_TRUE(names(judge_probes(hosts),
                    "GPU 0 to GPU 1 of g2: copy between GPUs makes 0.769 of the median of 3 GPU pairs"));
}

TEST(GpuFindings, OnlyTheSameModelCountPowerLimitAndDriverAreSiblings) {
  const auto slow_of = [](const auto& change) {
    std::vector<ProbeRecord> hosts(4, made_gpus(kH100, {2.9e12}));
    for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i].host = "g" + std::to_string(i);
    hosts[0].measurements[0].parts[0].windows = {2.5e12, 2.5e12};
    change(hosts[0]);
    return judge_probes(hosts).slow.size();
  };
  EXPECT_EQ(slow_of([](ProbeRecord&) {}), 1U);
  EXPECT_EQ(slow_of([](ProbeRecord& host) { host.gpus[0].power_limit_watts = 500; }), 0U);
  EXPECT_EQ(slow_of([](ProbeRecord& host) { host.gpus[0].driver = "570.1"; }), 0U);
  EXPECT_EQ(slow_of([](ProbeRecord& host) { host.gpus.push_back(host.gpus[0]); }), 0U);
  EXPECT_EQ(slow_of([](ProbeRecord& host) { host.measurements[0].parts[0].model = "NVIDIA Unheard Of"; }),
            0U);
}

TEST(GpuFindings, WhatThrottledItStandsBesideAndHeatIsAFinding) {
  ProbeRecord host = made_gpus(kH100, {2.9e12, 2.9e12, 2.9e12, 2.9e12});
  const auto read = [&](std::size_t gpu, double hertz, GpuTrouble trouble) {
    host.measurements[0].parts[gpu].telemetry = {{hertz, 650, 70, {}}, {hertz, 650, 88, {trouble}}};
  };
  for (const std::size_t gpu : {0U, 1U, 2U, 3U}) read(gpu, 1755e6, GpuTrouble::sw_power_cap);
  EXPECT_TRUE(judge_probes({host}).slow.empty());  // a power cap is usual
  read(1, 1755e6, GpuTrouble::hw_thermal_slowdown);
  ProbeVerdict verdict = judge_probes({host});
  ASSERT_EQ(verdict.slow.size(), 1U);
  EXPECT_FALSE(verdict.slow[0].bad);
  EXPECT_EQ(verdict.slow[0].evidence,
            "GPU 1 of g1: HW thermal slowdown in 1 of 2 windows of HBM copy, 88 °C");
  // Slow as well: said once, with the reason beside it.
  read(1, 1305e6, GpuTrouble::hw_thermal_slowdown);
  host.measurements[0].parts[1].windows = {2.5e12, 2.5e12};
  verdict = judge_probes({host});
  ASSERT_EQ(verdict.slow.size(), 1U);
  EXPECT_EQ(verdict.slow[0].evidence,
            "GPU 1 of g1: HBM copy makes 0.862 of the median of 4 GPUs; SM clock 1305 MHz, 650 W, 88 °C, HW "
            "thermal "
            "slowdown in 1 of 2 windows; the others' clock 1755 MHz");
}

TEST(GpuFindings, ProductsOfTheSameNumbersHaveTheSameBits) {
  ProbeRecord host = made_gpus(kH100, {2.9e12, 2.9e12, 2.9e12, 2.9e12});
  std::vector<ProbePart>& parts = host.measurements[0].parts;
  EXPECT_TRUE(judge_probes({host}).not_judged.empty()) << "records of before";
  for (ProbePart& part : parts) part.results = {"aa", "aa"};
  EXPECT_EQ(
      judge_probes({host}).healthy.back(),
      "4 products on GPUs: first and last result bitwise identical, also between GPUs of the same model");

  ProbeRecord alone = made_gpus(kH100, {2.9e12});
  alone.measurements[0].parts[0].results = {"aa", "aa"};
  EXPECT_EQ(judge_probes({alone}).healthy.back(),
            "1 product on GPUs: first and last result bitwise identical");

  parts[1].results = {"bb", "bb"};
  parts[2].results = {"aa", "cc"};
  const ProbeVerdict verdict = judge_probes({host});
  ASSERT_EQ(verdict.slow.size(), 2U);
  EXPECT_EQ(verdict.slow[0].evidence,
            "GPU 1 of g1: HBM copy: its result is not bitwise identical to that of 2 other GPUs: possible "
            "silent data corruption by its arithmetic or memory; probe it again");
  EXPECT_EQ(verdict.slow[1].evidence,
            "GPU 2 of g1: HBM copy: its first and last products of the same inputs are not bitwise "
            "identical: possible silent data corruption by its arithmetic or memory; probe it again");
  EXPECT_EQ(verdict.healthy.size(), 1U) << "the rates";

  // Two of four: nobody knows. Another host's decide, another library's do not.
  parts[0].results = {"bb", "bb"};
  parts[2].results = {"aa", "aa"};
  EXPECT_TRUE(judge_probes({host}).slow.empty());
  EXPECT_EQ(judge_probes({host}).not_judged,
            (std::vector<std::string>{"HBM copy: the results of 4 GPUs are not bitwise identical; which are "
                                      "wrong is not known"}));
  ProbeRecord other = made_gpus(kH100, {2.9e12});
  other.host = "g2";
  other.measurements[0].parts[0].results = {"aa", "aa"};
  EXPECT_TRUE(names(judge_probes({host, other}),
                    "GPU 0 of g1: HBM copy: its result is not bitwise identical "
                    "to that of 3 other GPUs"));
  other.measurements[0].by = "cuBLASLt 12.1.0";
  EXPECT_TRUE(judge_probes({host, other}).slow.empty());
}

TEST(GpuFindings, AGpuThatFailsIsBad) {
  ProbeRecord host = made_gpus(kH100, {2.9e12});
  host.failures.push_back({"GPU 3", "GEMM BF16", "uncorrectable ECC error encountered"});
  const ProbeVerdict verdict = judge_probes({host});
  ASSERT_EQ(verdict.slow.size(), 1U);
  EXPECT_TRUE(verdict.slow[0].bad);
  EXPECT_EQ(verdict.slow[0].evidence,
            "GPU 3 of g1: GEMM BF16 stopped it: uncorrectable ECC error encountered");
}

TEST(GpuFindings, APairThatFailsAccusesAGpuOnlyWhereAllHaveItInCommon) {
  ProbeRecord host = made_gpus(kH100, {2.9e12});
  host.failures.push_back({"GPU 0 to GPU 3", "copy between GPUs", "unknown error"});
  ProbeVerdict verdict = judge_probes({host});
  ASSERT_EQ(verdict.slow.size(), 1U);
  EXPECT_EQ(verdict.slow[0].evidence, "GPU 0 to GPU 3 of g1: copy between GPUs stopped: unknown error");
  EXPECT_TRUE(verdict.slow[0].bad);
  // There and back: either of the two.
  host.failures.push_back({"GPU 3 to GPU 0", "copy between GPUs", "after another failure: unknown error"});
  EXPECT_EQ(judge_probes({host}).slow.size(), 2U);
  host.failures.push_back({"GPU 1 to GPU 3", "copy between GPUs", "after another failure: unknown error"});
  verdict = judge_probes({host});
  ASSERT_EQ(verdict.slow.size(), 4U);
  EXPECT_TRUE(names(verdict, "GPU 3 of g1: it is in all 3 pairs of GPUs whose copy between GPUs failed"));
  // What a GPU fails in afterwards does not make it bad.
  host.failures = {{"GPU 1", "soak", "after another failure: unknown error"}};
  EXPECT_FALSE(judge_probes({host}).slow[0].bad);
}

TEST(GpuFindings, ASliceOfAGpuHasNoPublishedRate) {
  for (const char* slice :
       {"NVIDIA H100 80GB HBM3 MIG 1g.10gb", "GRID A100-10C", "NVIDIA A100-40C", "GRID A100D-1-10C"})
    EXPECT_EQ(published_rate({.id = "gpu-hbm-copy"}, slice), std::nullopt) << slice;
  for (const char* whole : {"NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"})
    EXPECT_TRUE(published_rate({.id = "gpu-hbm-copy"}, whole)) << whole;
}

TEST(GpuFindings, PublishedRatesAreOfLargeProductsInBf16AndFp8AndOfCopies) {
  ProbeMeasurement product{.id = "gpu-gemm-bf16", .size = 16384};
  EXPECT_EQ(published_rate(product, kH100), 794.5e12);
  product.size = 4096;
  EXPECT_EQ(published_rate(product, kH100), std::nullopt);
  product = {.id = "gpu-gemm-fp64", .size = 16384};
  EXPECT_EQ(published_rate(product, kH100), std::nullopt);
  EXPECT_EQ(published_rate({.id = "gpu-hbm-copy"}, kH100), 2.9e12);
  EXPECT_EQ(published_rate({.id = "gpu-hbm-copy"}, "NVIDIA Unheard Of"), std::nullopt);
  EXPECT_EQ(gpu_title(made_gpus(kH100, {1, 1})),
            "2 × NVIDIA H100 80GB HBM3, power limit 700 W, driver 550.54.15");
}

}  // namespace
}  // namespace collbench::analysis::gpu_findings_test
