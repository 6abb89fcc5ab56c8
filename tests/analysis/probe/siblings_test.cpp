#include "analysis/probe/siblings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/analysis/probe/made_probes.hpp"

namespace collbench::analysis::siblings_test {
namespace {

/// The measurement `index` of `core` of a host at `share` of its rate.
void slow_down(ProbeRecord& record, std::size_t index, std::size_t core, double share) {
  for (double& window : record.measurements[index].parts[core].windows) window *= share;
}

TEST(ProbeSiblings, CoresAddUpToNodesAndTheHost) {
  ProbeRecord host = made_host("n1");
  host.measurements[0].parts[1].windows = {90e9, 100e9, 110e9};
  const auto rates = probe_rates(host, host.measurements[0]);
  ASSERT_EQ(rates.size(), 4U + 2 + 1);
  EXPECT_EQ(rates[1].name, "core 1");
  EXPECT_EQ(rates[1].rate, 100e9);
  EXPECT_DOUBLE_EQ(rates[1].drift, 110.0 / 90 - 1);
  EXPECT_EQ(rates[4].name, "NUMA node 0");
  EXPECT_EQ(rates[4].rate, 200e9);
  EXPECT_EQ(rates[6].name, "all cores");
  EXPECT_EQ(rates[6].rate, 400e9);
  EXPECT_EQ(rate_of_all_cores(host.measurements[0]), 400e9);
}

TEST(ProbeSiblings, ASlowCoreIsNamedAndAllElseIsAlike) {
  ProbeRecord host = made_host("n1");
  EXPECT_TRUE(judge_probes({host}).slow.empty());
  slow_down(host, 0, 2, 0.97);
  slow_down(host, 2, 1, 0.9);
  slow_down(host, 3, 1, 0.9);  // its share of a memory that all contend for: no finding
  const ProbeVerdict verdict = judge_probes({host});
  ASSERT_EQ(verdict.slow.size(), 2U);
  EXPECT_EQ(verdict.slow[0].evidence, "core 1 of n1: GEMM FP64 makes 0.900 of the median of 4 cores");
  EXPECT_TRUE(verdict.slow[0].bad);
  EXPECT_EQ(verdict.slow[1].part.name, "core 2");
  EXPECT_FALSE(verdict.slow[1].bad);
  // The two nodes differ, and nobody knows which of the two is the slow one.
  EXPECT_EQ(
      std::count_if(verdict.not_judged.begin(), verdict.not_judged.end(),
                    [](const auto& line) { return line.find("of two nobody knows") != std::string::npos; }),
      4);
}

TEST(ProbeSiblings, HostsAreComparedWithHosts) {
  std::vector<ProbeRecord> hosts{made_host("n1"), made_host("n2"), made_host("n3")};
  for (std::size_t core = 0; core < 4; ++core) slow_down(hosts[1], 2, core, 0.93);
  const ProbeVerdict verdict = judge_probes(hosts);
  EXPECT_TRUE(std::any_of(verdict.slow.begin(), verdict.slow.end(), [](const SlowPart& slow) {
    return slow.evidence == "all cores of n2: GEMM FP64 makes 0.930 of the median of 3 hosts" && slow.bad;
  }));
}

TEST(ProbeSiblings, WhoWasDisturbedIsNotJudged) {
  ProbeRecord host = made_host("n1");
  slow_down(host, 0, 2, 0.5);
  host.taken_share = 0.2;
  ProbeVerdict verdict = judge_probes({host});
  EXPECT_TRUE(verdict.slow.empty());
  EXPECT_TRUE(verdict.healthy.empty());
  ASSERT_EQ(verdict.not_judged.size(), 1U);
  EXPECT_NE(verdict.not_judged[0].find("others took 20 %"), std::string::npos);
  EXPECT_NE(verdict.not_judged[0].find("by how much what is shown is low is not known"), std::string::npos);
  host.taken_share.reset();
  verdict = judge_probes({host});
  ASSERT_EQ(verdict.not_judged.size(), 1U);
  EXPECT_NE(verdict.not_judged[0].find("not known"), std::string::npos);
}

bool says(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST(ProbeSiblings, NodesWithFewerCoresAreNoSiblings) {
  // 15 of 16 cores may be used, all of them alike.
  ProbeRecord host = made_host("n1");
  for (ProbeMeasurement& each : host.measurements) {
    each.parts.resize(1, each.parts.front());
    for (int core = 1; core < 16; ++core) {
      each.parts.push_back(each.parts.front());
      each.parts.back().numa = core / 4;
    }
    each.parts.pop_back();
  }
  host.cores = 15;
  EXPECT_EQ(judge_probes({host}).slow, std::vector<SlowPart>{});
  for (double& window : host.measurements[0].parts[0].windows) window *= 0.7;
  const std::vector<SlowPart> found = judge_probes({host}).slow;
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const SlowPart& slow) {
    return slow.evidence.starts_with("NUMA node 0 of n1: multiply-add FP64 makes 0.925 of the median of 3");
  }));
}

TEST(ProbeSiblings, ACoreThatWasSharedIsNotJudgedNorWhatItIsPartOf) {
  std::vector<ProbeRecord> hosts{made_host("n1"), made_host("n2"), made_host("n3")};
  slow_down(hosts[0], 0, 2, 0.5);  // one of many: not 2 % of the host
  hosts[0].measurements[0].parts[2].cpu_share = 0.5;
  slow_down(hosts[1], 0, 1, 0.9);
  const ProbeVerdict verdict = judge_probes(hosts);
  for (const SlowPart& slow : verdict.slow) EXPECT_EQ(slow.part.host, "n2") << slow.evidence;
  EXPECT_FALSE(verdict.slow.empty());
  EXPECT_TRUE(says(verdict.not_judged, "core 2 of n1 in multiply-add FP64: something else had up to 50 %"));
  for (ProbePart& part : hosts[2].measurements[0].parts) part.cpu_share.reset();
  EXPECT_TRUE(says(judge_probes(hosts).not_judged, "the cores of n3: how much of the time each was at work"));
}

TEST(ProbeSiblings, OnlyTheSameWorkForAsLongIsCompared) {
  std::vector<ProbeRecord> hosts{made_host("n1"), made_host("n2"), made_host("n3")};
  for (std::size_t core = 0; core < 4; ++core) slow_down(hosts[0], 3, core, 0.4);
  ASSERT_FALSE(judge_probes(hosts).slow.empty());
  hosts[0].measurements[3].work = "3 arrays of 1 GiB";  // the others' lie in caches
  EXPECT_EQ(judge_probes(hosts).slow, std::vector<SlowPart>{});
  hosts[0].measurements[3].work = hosts[1].measurements[3].work;
  hosts[0].window_seconds = 10;
  EXPECT_EQ(judge_probes(hosts).slow, std::vector<SlowPart>{});
}

TEST(ProbeSiblings, HostsOfProcessorsWithoutANameAreNotComparedWithEachOther) {
  std::vector<ProbeRecord> hosts{made_host("n1"), made_host("n2"), made_host("n3")};
  for (std::size_t core = 0; core < 4; ++core) slow_down(hosts[0], 0, core, 0.5);
  slow_down(hosts[2], 0, 3, 0.9);
  for (ProbeRecord& host : hosts) {
    for (ProbeMeasurement& each : host.measurements) {
      for (ProbePart& part : each.parts) part.model.clear();
    }
  }
  const ProbeVerdict verdict = judge_probes(hosts);
  ASSERT_EQ(verdict.slow.size(), 1U);
  EXPECT_EQ(verdict.slow[0].evidence, "core 3 of n3: multiply-add FP64 makes 0.900 of the median of 4 cores");
  EXPECT_TRUE(says(verdict.not_judged, "n1 beside other hosts: the kernel does not name its processor"));
}

/// A host of 128 cores whose rates scatter by `deviation` around each other, and triads by much more.
ProbeRecord scattered_host(double deviation, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  ProbeRecord host = made_host("n1");
  host.cores = 128;
  for (ProbeMeasurement& each : host.measurements) {
    const ProbePart made = each.parts.front();
    each.parts.assign(128, made);
    const double scatter = each.unit == ProbeUnit::byte ? 0.1 : deviation;
    for (ProbePart& part : each.parts)
      part.windows.assign(3, made.windows.front() * (1 + scatter * normal(generator)));
  }
  return host;
}

TEST(ProbeSiblings, HealthyCoresThatScatterAreNotNamed) {
  int named = 0;
  for (unsigned seed = 0; seed < 40; ++seed)
    named += judge_probes({scattered_host(0.01, seed)}).slow.empty() ? 0 : 1;
  EXPECT_EQ(named, 0);  // of 40 hosts
  ProbeRecord host = scattered_host(0.01, 1);
  slow_down(host, 0, 77, 0.85);
  ASSERT_EQ(judge_probes({host}).slow.size(), 1U);
  EXPECT_TRUE(judge_probes({host}).slow[0].bad);
  // What hides much is no all-clear.
  const ProbeVerdict wide = judge_probes({scattered_host(0.05, 1)});
  EXPECT_TRUE(wide.healthy.empty());
  EXPECT_TRUE(says(wide.not_judged, "they scatter so that only one below 0.7"));
}

TEST(ProbeSiblings, GpusAreJudgedByTheirModel) {
  const std::string h100 = "NVIDIA H100 80GB HBM3";
  EXPECT_TRUE(judge_probes({made_gpus(h100, {2.9e12, 2.9e12, 2.89e12, 2.9e12})}).slow.empty());
  const ProbeVerdict one = judge_probes({made_gpus(h100, {2.9e12, 2.9e12, 2.7e12, 2.9e12})});
  ASSERT_EQ(one.slow.size(), 1U);
  EXPECT_TRUE(std::any_of(one.slow.begin(), one.slow.end(), [](const auto& slow) { return slow.bad; }));
  // All of them alike: only what is published tells.
  const ProbeVerdict all = judge_probes({made_gpus(h100, {2.0e12, 2.0e12, 2.0e12})});
  ASSERT_EQ(all.slow.size(), 3U);
  EXPECT_NE(all.slow[0].evidence.find("0.690 of what is published of its model"), std::string::npos);
  EXPECT_FALSE(all.slow[0].bad);
  EXPECT_TRUE(judge_probes({made_gpus("NVIDIA Unheard Of", {1e12, 1e12, 1e12})}).slow.empty());
}

}  // namespace
}  // namespace collbench::analysis::siblings_test
