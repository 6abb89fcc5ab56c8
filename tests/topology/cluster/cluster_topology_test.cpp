#include "topology/cluster/cluster_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/topology/refusal.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::cluster_topology_test {
namespace {

/// hgx-h100 as one of several equal machines.
Host counterpart(const std::string& name) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  host.name.value = name;
  for (std::size_t i = 0; i < host.gpus.size(); ++i)
    host.gpus[i].uuid.value = "GPU-" + name + std::to_string(i);
  for (std::size_t i = 0; i < host.nics.size(); ++i) {
    host.nics[i].name.value = name + "_mlx5_" + std::to_string(i);
    host.nics[i].ports.at(0).gid.value = "fe80::" + name + std::to_string(i);
  }
  return host;
}

ClusterTopology cluster_of(const Host& first, const Host& second) {
  return {{first}, {{"a", 0, host_facts(first).identity}, {"b", 0, host_facts(second).identity}}};
}

TEST(NodeHost, IsTheShapeUnderItsOwnNames) {
  const ClusterTopology cluster = cluster_of(counterpart("a"), counterpart("b"));
  EXPECT_EQ(node_host(cluster, 0), counterpart("a"));
  EXPECT_EQ(node_host(cluster, 1), counterpart("b"));
}

TEST(NodeHost, HasNoNameOfTheFirstNodeWhereItHasNone) {
  Host second = counterpart("b");
  second.gpus[2].uuid.value.reset();
  EXPECT_FALSE(node_host(cluster_of(counterpart("a"), second), 1).gpus[2].uuid.known());
}

TEST(NodeHost, ThrowsForANodeThatIsNotThere) {
  EXPECT_THROW(static_cast<void>(node_host(cluster_of(counterpart("a"), counterpart("b")), 2)),
               std::out_of_range);
}

ClusterTopology two_nodes() {
  return {{reference_host(*find_reference_machine("hgx-h100"))},
          {{"n1", 0, {}}, {"n2", 0, {{"GPU 0000:18:00.0", {{"uuid", "GPU-1"}}}}}}};
}

TEST(ClusterRecord, GivesTheClusterBack) {
  const ClusterTopology cluster = two_nodes();
  const Cluster record = cluster_record(cluster);
  EXPECT_EQ(record.summary.size(), 3U);
  const ClusterTopology again = read_cluster_record(record, "run.json");
  EXPECT_EQ(again.distinct_hosts, cluster.distinct_hosts);
  EXPECT_EQ(again.nodes, cluster.nodes);
}

TEST(ClusterRecord, RefusesANodeOfNoShape) {
  Cluster record = cluster_record(two_nodes());
  record.nodes[1].shape = 1;
  EXPECT_THAT(refusal([&] { static_cast<void>(read_cluster_record(record, "run.json")); }),
              testing::HasSubstr("run.json: node n2 refers to distinct host 1, but the record has only 1"));
}

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Host hgx() { return reference_host(*find_reference_machine("hgx-h100")); }

ClusterTopology cluster_of(const std::vector<Host>& shapes, const std::vector<int>& shape_of_node) {
  ClusterTopology cluster{shapes, {}};
  for (const int shape : shape_of_node)
    cluster.nodes.push_back({"n" + std::to_string(cluster.nodes.size()), shape, {}});
  return cluster;
}

TEST(ClusterSummary, OneNode) {
  EXPECT_THAT(cluster_summary(cluster_of({hgx()}, {0})),
              ElementsAre(HasSubstr("1 node: 8 × NVIDIA H100"), HasSubstr("hgx-h100")));
  EXPECT_THAT(cluster_summary({}), IsEmpty());
}

TEST(ClusterSummary, AlikeNodes) {
  EXPECT_THAT(
      cluster_summary(cluster_of({hgx()}, {0, 0})),
      ElementsAre(HasSubstr("2 nodes, each 8 × NVIDIA H100"),
                  HasSubstr("matches the reference machine hgx-h100"), HasSubstr("all nodes are identical")));
}

TEST(ClusterSummary, NamesTheOddNodeAndWhy) {
  Host odd = hgx();
  odd.gpus[3].nvlinks_active.value = 17;
  const auto lines = cluster_summary(cluster_of({odd, hgx()}, {1, 1, 0, 1}));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("4 nodes in 2 configurations, 3 of them 8 × NVIDIA H100"));
  EXPECT_THAT(lines[2], testing::Eq("outliers: n2"));
}

TEST(ClusterSummary, AThousandNodesTakeThreeLines) {
  Host without = hgx();
  without.nics.pop_back();
  Host down = hgx();
  down.nics[0].ports.at(0).state.value = "DOWN";
  std::vector<int> shapes(1000, 0);
  std::fill(shapes.begin() + 10, shapes.begin() + 20, 1);
  shapes[500] = 2;
  const auto lines = cluster_summary(cluster_of({hgx(), without, down}, shapes));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("1000 nodes in 3 configurations, 989 of them"));
  EXPECT_THAT(lines[2], testing::Eq("outliers: n10, n11, n12, n13 and 6 more | n500"));
  for (const std::string& line : lines) EXPECT_LT(line.size(), 600U) << line;
}

TEST(ClusterSummary, ManyOddKindsAreCounted) {
  std::vector<Host> shapes(6, hgx());
  std::vector<int> nodes{0, 0};
  for (int i = 1; i < 6; ++i) {
    shapes[static_cast<std::size_t>(i)].gpus[0].nvlinks_active.value = i;
    nodes.push_back(i);
  }
  EXPECT_THAT(cluster_summary(cluster_of(shapes, nodes))[2], HasSubstr("and 2 more"));
}

TEST(ClusterSummary, WithoutGpus) {
  EXPECT_THAT(cluster_summary(cluster_of({Host{}}, {0, 0}))[1], HasSubstr("no reference machine matches"));
}

TEST(ClusterSummary, OtherBusNumbersMakeNoNodeOdd) {
  Host moved = hgx();
  for (PciDevice& pci : moved.pci_devices) {
    if (pci.address == *moved.nics[0].pci_address.value) pci.address = "0000:f0:00.0";
  }
  moved.nics[0].pci_address.value = "0000:f0:00.0";
  EXPECT_THAT(
      cluster_summary(cluster_of({hgx(), moved}, {0, 0, 1})),
      ElementsAre(HasSubstr("3 nodes, each"), HasSubstr("hgx-h100"), HasSubstr("all nodes are identical")));
}

}  // namespace

}  // namespace collbench::topology::cluster_topology_test
