#include "topology/cluster_summary.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "topology/reference_machines.hpp"

namespace collbench {
namespace {

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
  EXPECT_THAT(cluster_summary(cluster_of({hgx()}, {0, 0})),
              ElementsAre(HasSubstr("2 nodes, each 8 × NVIDIA H100"),
                          HasSubstr("like the reference machine hgx-h100"), HasSubstr("alike")));
}

TEST(ClusterSummary, NamesTheOddNodeAndWhy) {
  Host odd = hgx();
  odd.gpus[3].nvlinks_active.value = 17;
  const auto lines = cluster_summary(cluster_of({odd, hgx()}, {1, 1, 0, 1}));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("4 nodes of 2 kinds, 3 of them 8 × NVIDIA H100"));
  EXPECT_THAT(lines[2], AllOf(HasSubstr("odd: n2: GPU " + *odd.gpus[3].pci_address.value),
                              HasSubstr("nvlinks_active 17 instead of")));
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
  EXPECT_THAT(lines[0], HasSubstr("1000 nodes of 3 kinds, 989 of them"));
  EXPECT_THAT(lines[2], AllOf(HasSubstr("odd: n10, n11, n12, n13 and 6 more: no NIC "),
                              HasSubstr(" | n500: NIC "), HasSubstr("state DOWN instead of")));
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
  EXPECT_THAT(cluster_summary(cluster_of({Host{}}, {0, 0}))[1], HasSubstr("host memory is measured"));
}

TEST(ShapeDifferences, SayWhatMattersFirst) {
  const FactsByDevice usual{{"PCI 0000:18:00.0", {{"class", "0x03"}}},
                            {"GPU 0000:18:00.0", {{"model", "H100"}, {"sm", "90"}}},
                            {"NIC 0000:19:00.0", {}}};
  EXPECT_THAT(
      shape_differences({{"GPU 0000:18:00.0", {{"model", "H100"}, {"mig", "yes"}}}, {"NUMA 0", {}}}, usual),
      ElementsAre("GPU 0000:18:00.0 has mig yes, usually not known",
                  "GPU 0000:18:00.0 has no known sm, usually 90", "no NIC 0000:19:00.0", "also NUMA 0",
                  "no PCI 0000:18:00.0"));
  EXPECT_THAT(shape_differences(usual, usual), IsEmpty());
}

}  // namespace
}  // namespace collbench
