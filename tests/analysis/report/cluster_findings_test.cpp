#include "analysis/report/diff_report.hpp"

#include <gmock/gmock.h>

#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis::cluster_findings_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

topology::Host hgx() { return topology::reference_host(*topology::find_reference_machine("hgx-h100")); }

topology::Host with_fewer_nvlinks() {
  topology::Host host = hgx();
  host.gpus[3].nvlinks_active.value = 9;
  return host;
}

topology::ClusterTopology cluster_of(const std::vector<topology::Host>& shapes,
                                     const std::vector<int>& shape_of_node) {
  topology::ClusterTopology cluster{shapes, {}};
  for (const int shape : shape_of_node)
    cluster.nodes.push_back({"n" + std::to_string(cluster.nodes.size()), shape, {}});
  return cluster;
}

std::vector<std::string> lines_of(const topology::ClusterTopology& cluster,
                                  const std::optional<topology::HostGroup>& expected = {}) {
  return cluster_finding_lines(cluster_findings(cluster, expected, true),
                               static_cast<int>(cluster.nodes.size()));
}

TEST(ClusterFindings, TheOddNodeIsNamedWithWhatItCosts) {
  EXPECT_THAT(
      lines_of(cluster_of({hgx(), with_fewer_nvlinks()}, {0, 0, 1})),
      ElementsAre(AllOf(HasSubstr("n2 against n0 and n1: degraded nvlink-fewer GPU3"),
                        HasSubstr("9 NVLinks active instead of 18, cost: AllReduce on 2 nodes: nvls_tree"))));
}

TEST(ClusterFindings, AlikeNodesHaveNone) {
  EXPECT_THAT(lines_of(cluster_of({hgx()}, {0, 0})), IsEmpty());
  EXPECT_THAT(lines_of(cluster_of({hgx()}, {0})), IsEmpty());
}

TEST(ClusterFindings, AgainstWhatIsExpectedEveryKindCounts) {
  const topology::ClusterTopology cluster = cluster_of({with_fewer_nvlinks()}, {0, 0});
  EXPECT_THAT(lines_of(cluster), IsEmpty());
  const topology::HostGroup expected{hgx(), {"hgx-h100"}};
  EXPECT_THAT(lines_of(cluster, expected), ElementsAre(HasSubstr("n0 and n1 against hgx-h100: degraded")));
  EXPECT_TRUE(cluster_findings(cluster, expected, true).has_fault());
}

TEST(ClusterFindings, ManyKindsAndManyFindingsAreCounted) {
  std::vector<topology::Host> shapes{hgx()};
  std::vector<int> nodes{0, 0};
  for (int i = 1; i <= 5; ++i) {
    topology::Host odd = hgx();
    for (int gpu = 0; gpu < 5; ++gpu) odd.gpus[static_cast<std::size_t>(gpu)].nvlinks_active.value = i + gpu;
    shapes.push_back(odd);
    nodes.push_back(i);
  }
  const auto lines = lines_of(cluster_of(shapes, nodes));
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_THAT(lines[0], HasSubstr("2 more (collbench topo diff)"));
  EXPECT_THAT(lines[3], HasSubstr("2 more kinds of node"));
}

TEST(ClusterFindings, ALowRunNamesWhatItsBytesMeet) {
  topology::Host slow = with_fewer_nvlinks();
  slow.driver_version.value = "535";
  topology::Host expected = hgx();
  expected.driver_version.value = "550";
  const auto path = [&expected](const topology::ClusterTopology& cluster) {
    return findings_on_the_path(cluster_groups(cluster), 2, {expected, {"good"}}, false);
  };
  const std::string sentence = path(cluster_of({slow}, {0, 0}));
  EXPECT_THAT(sentence, AllOf(HasSubstr("Findings on its path: n0 and n1, degraded nvlink-fewer GPU3"),
                              testing::Not(HasSubstr("driver-version"))));
  EXPECT_EQ(path(cluster_of({expected}, {0, 0})), "");
}

}  // namespace
}  // namespace collbench::analysis::cluster_findings_test
