#include "analysis/probe/siblings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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
  slow_down(host, 3, 1, 0.9);
  const ProbeVerdict verdict = judge_probes({host});
  ASSERT_EQ(verdict.slow.size(), 2U);
  EXPECT_EQ(verdict.slow[0].evidence, "core 1 of n1: triad makes 0.900 of the median of 4 cores");
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
  host.taken_share.reset();
  verdict = judge_probes({host});
  ASSERT_EQ(verdict.not_judged.size(), 1U);
  EXPECT_NE(verdict.not_judged[0].find("not known"), std::string::npos);
}

TEST(ProbeSiblings, GpusAreJudgedByTheirModel) {
  const std::string h100 = "NVIDIA H100 80GB HBM3";
  EXPECT_TRUE(judge_probes({made_gpus(h100, {2.9e12, 2.9e12, 2.89e12, 2.9e12})}).slow.empty());
  const ProbeVerdict one = judge_probes({made_gpus(h100, {2.9e12, 2.9e12, 2.7e12, 2.9e12})});
  ASSERT_EQ(one.slow.size(), 2U);  // below its siblings, and below what is published
  EXPECT_TRUE(std::any_of(one.slow.begin(), one.slow.end(), [](const auto& slow) { return slow.bad; }));
  // All of them alike: only what is published tells.
  const ProbeVerdict all = judge_probes({made_gpus(h100, {2.0e12, 2.0e12, 2.0e12})});
  ASSERT_EQ(all.slow.size(), 3U);
  EXPECT_NE(all.slow[0].evidence.find("0.690 of what is published of H100 SXM"), std::string::npos);
  EXPECT_FALSE(all.slow[0].bad);
  EXPECT_TRUE(judge_probes({made_gpus("NVIDIA Unheard Of", {1e12, 1e12, 1e12})}).slow.empty());
}

}  // namespace
}  // namespace collbench::analysis::siblings_test
