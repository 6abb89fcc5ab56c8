#include "tools/burnin/attribution/gpu_phase.hpp"

#include <gtest/gtest.h>

#include "analysis/probe/siblings.hpp"
#include "base/error.hpp"
#include "tests/analysis/probe/made_probes.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis::gpu_phase_test {
namespace {

const std::string kH100 = "NVIDIA H100 80GB HBM3";
const std::string kA100 = "NVIDIA A100-SXM4-80GB";

BurninRecord made_fleet(int hosts) {
  BurninRecord record;
  for (int host = 0; host < hosts; ++host) {
    record.table.nodes.push_back("n" + std::to_string(host));
    ProbeRecord probe = made_gpus(kH100, {2.9e12, 2.9e12});
    probe.host = record.table.nodes.back();
    record.probes.push_back(std::move(probe));
  }
  return record;
}

TEST(GpuPhase, AHostTakesTheFindingOfItsGpu) {
  BurninRecord record = made_fleet(4);
  for (const NodeVerdict& node : attribute(record).nodes) EXPECT_EQ(node.bucket, Bucket::good) << node.why;
  record.probes[2].measurements[0].parts[1].windows = {2.8e12, 2.8e12};
  Attribution found = attribute(record);
  EXPECT_EQ(found.nodes[2].bucket, Bucket::suspect);
  ASSERT_EQ(found.blames.size(), 1U);
  EXPECT_EQ(found.blames[0].kind, BlameKind::gpu);
  EXPECT_EQ(found.blames[0].evidence, "GPU 1 of n2: HBM copy makes 0.966 of the median of 8 GPUs");
  record.probes[2].measurements[0].parts[1].windows = {2.5e12, 2.5e12};
  record.probes[3].failures.push_back({"GPU 0", "GEMM BF16", "no"});
  found = attribute(record);
  EXPECT_EQ(found.nodes[2].bucket, Bucket::bad);
  EXPECT_EQ(found.nodes[3].bucket, Bucket::bad);
  EXPECT_EQ(found.nodes[0].bucket, Bucket::good);
  // A blame of a GPU asks for no pairs.
  EXPECT_TRUE(retests_of(record).empty());
  EXPECT_NE(burnin_text(record, 120).find("GPU, GPU 1 is bad: GPU 1 of n2"), std::string::npos);
}

TEST(GpuPhase, HostsAreComparedWithThoseThatHaveTheSameGpus) {
  BurninRecord record = made_fleet(5);
  record.probes[4] = made_gpus(kA100, {1.6e12, 1.6e12});
  record.probes[4].host = "n4";
  for (int node = 0; node < 5; ++node)
    record.groups.push_back({{BurninPhase::nodes, {node}}, "all_reduce", node == 4 ? 200e9 : 400e9, 1e9});
  const Attribution found = attribute(record);
  EXPECT_TRUE(found.blames.empty());
  for (const NodeVerdict& node : found.nodes)
    EXPECT_EQ(node.bucket, node.node == 4 ? Bucket::not_tested : Bucket::good) << node.why;
  const auto populations = group_populations(record);
  ASSERT_EQ(populations.size(), 2U);
  EXPECT_EQ(populations[1].gpus, "2 × NVIDIA A100-SXM4-80GB");
  const std::string text = burnin_text(record, 200);
  for (const char* const says :
       {"hosts differ in GPUs (n4: 2 × NVIDIA A100-SXM4-80GB; n0, n1, n2, n3: 2 × NVIDIA H100 80GB HBM3):",
        "n4: no other host is like it, so its GPUs were compared with each other only",
        "not compared, for fewer than 4 were alike: n4 (2 × NVIDIA A100-SXM4-80GB)"})
    EXPECT_NE(text.find(says), std::string::npos) << text;
  // By the counters' look alone, without probes, likewise.
  for (const ProbeRecord& probe : record.probes)
    for (const ProbeGpu& gpu : probe.gpus) record.gpu_models[probe.host].push_back(gpu.model);
  record.probes.clear();
  EXPECT_EQ(group_populations(record).size(), 2U);
  EXPECT_TRUE(attribute(record).blames.empty());
}

TEST(GpuPhase, WhatAProbePrintedIsRead) {
  ProbeRecord probe = made_gpus(kH100, {1, 1});
  probe.host = "n1.example";
  const GpuOutcome outcome =
      gpu_outcome("Welcome to the cluster\n" + probe_json(probe) + "mpirun: bye\n", "n1");
  ASSERT_TRUE(outcome.probe) << outcome.why;
  EXPECT_EQ(outcome.probe->host, "n1");
  EXPECT_EQ(gpu_outcome(probe_json(probe), "n2").misplaced, "the probe ran on n1.example");
  EXPECT_EQ(gpu_outcome("Welcome", "n1").why, "what it printed is no record of a probe");
  EXPECT_TRUE(gpu_outcome("{\n}", "n1").why.starts_with("what it printed is no record: "));
}

TEST(GpuPhase, TheRecordComesBack) {
  BurninRecord record = made_fleet(4);
  record.gpu_models["n3"] = {kH100};
  const BurninRecord back = burnin_from_json(burnin_json(record), "x");
  EXPECT_EQ(back.probes, record.probes);
  EXPECT_EQ(back.gpu_models, record.gpu_models);
  record.probes[1].host = "elsewhere";
  EXPECT_THROW((void)burnin_from_json(burnin_json(record), "x"), Error);
}

}  // namespace
}  // namespace collbench::analysis::gpu_phase_test
