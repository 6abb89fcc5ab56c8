#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "tools/nccl_plan/report/report.hpp"

namespace collbench::analysis {
namespace {

/// Two nodes of two GPUs; the second channel's ring goes back over a connection that was not made.
NcclPlan plan_to_draw() {
  NcclPlan plan;
  plan.machine = "<rack & 7>";
  plan.nodes = 2;
  plan.ranks = 4;
  plan.version = "2.30.7";
  plan.nics = {"mlx5_0", "<mlx5_3>"};
  plan.graphs.assign(2, {NcclSearchGraph{NcclAlgorithm::ring, 4, 0, 2, 48e9, 24e9, "NVL", "PIX", {}}});
  plan.collective_channels = 2;
  plan.rings = {{0, 1, 3, 2}, {0, 1, 2, 3}};
  plan.tree_parents = {{-1, 0, 0, 2}, {-1, 0, 0, 2}};
  plan.nvls_heads = {{0, 2}};
  plan.connections = {{0, 1, 3, 1, 0, true, {}},
                      {0, 2, 0, 0, {}, true, {}},
                      {1, 1, 2, 1, 1, true, {}},
                      {0, 0, 2, 0, 0, true, {}},
                      {1, 0, 2, 0, 0, true, {}}};
  return plan;
}

struct DrawnLane {
  std::vector<std::string> texts;
  std::map<std::string, double> rank_x;
  bool dashed = false;
};

std::map<std::string, DrawnLane> drawn_lanes(const std::string& svg) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(svg.c_str())) << svg;
  std::map<std::string, DrawnLane> lanes;
  for (const pugi::xml_node group : document.child("svg").children("g")) {
    if (!std::string(group.attribute("class").value()).starts_with("lane ")) continue;
    DrawnLane& lane = lanes[group.child_value("title")];
    for (const pugi::xml_node text : group.children("text")) {
      lane.texts.emplace_back(text.child_value());
      for (const pugi::xml_node number : text.children("tspan"))
        lane.rank_x[number.child_value()] = number.attribute("x").as_double();
    }
    for (const pugi::xml_node path : group.children("path")) {
      lane.dashed = lane.dashed || std::string(path.attribute("class").value()) == "none";
    }
  }
  return lanes;
}

long number_of(const DrawnLane& lane, const std::string& text) {
  return std::count(lane.texts.begin(), lane.texts.end(), text);
}

TEST(NcclPlanSvg, LanesHaveEachRankAndTheNicsBetweenNodes) {
  const auto lanes = drawn_lanes(nccl_plan_svg({plan_to_draw(), {}, {}}));
  ASSERT_EQ(lanes.size(), 3U);
  const DrawnLane& ring = lanes.at("ring 0: 0 1 =1:0=> 3 2 =0:?=> 0");
  EXPECT_EQ(number_of(ring, "NIC 0"), 2);
  EXPECT_EQ(number_of(ring, "NIC 1"), 1);
  EXPECT_EQ(number_of(ring, "NIC ?"), 1);
  EXPECT_FALSE(ring.dashed);
  EXPECT_LT(ring.rank_x.at("0"), ring.rank_x.at("1"));
  EXPECT_LT(ring.rank_x.at("1"), ring.rank_x.at("3"));
  EXPECT_LT(ring.rank_x.at("3"), ring.rank_x.at("2"));
  EXPECT_TRUE(lanes.at("ring 1: 0 1 =1:1=> 2 3 => 0").dashed);
  const DrawnLane& tree = lanes.at("tree 0, 1: 0 (1) =0:0=> 2 3");
  EXPECT_EQ(number_of(tree, "NIC 0 → 0"), 1);
  EXPECT_EQ(tree.rank_x.size(), 4U);
}

TEST(NcclPlanSvg, RatesNotesAndNamesAreThereEscaped) {
  NcclPlanReport report{plan_to_draw(), {}, {}};
  report.notes = {"nothing <b>"};
  const std::string svg = nccl_plan_svg(report);
  EXPECT_NE(svg.find("NCCL 2.30.7 on &lt;rack &amp; 7&gt;: 2 nodes × 2 GPUs (4 ranks)"), std::string::npos);
  EXPECT_NE(svg.find("ring: 2 channels of 48 GB/s each inside a node, 24 between nodes"), std::string::npos);
  EXPECT_NE(svg.find("NIC 1 &lt;mlx5_3&gt; of node 1"), std::string::npos) << svg;
  EXPECT_NE(svg.find("note: nothing &lt;b&gt;"), std::string::npos);
  EXPECT_NE(svg.find("rank 2: GPU 0 of node 1, NVLS head 0"), std::string::npos);
  EXPECT_NE(svg.find("dashed: a connection"), std::string::npos);
}

TEST(NcclPlanSvg, OneNodeHasNoNics) {
  NcclPlan plan = plan_to_draw();
  plan.nodes = 1;
  const std::string svg = nccl_plan_svg({plan, {}, {}});
  EXPECT_EQ(drawn_lanes(svg).size(), 3U);
  EXPECT_EQ(svg.find(">NIC"), std::string::npos) << svg;
}

TEST(NcclPlanSvg, NodesThatNvlinkJoinsAreDrawnWithoutNics) {
  NcclPlan plan = plan_to_draw();
  plan.nodes_per_domain = 2;
  plan.connections.clear();
  const std::string svg = nccl_plan_svg({plan, {}, {}});
  EXPECT_EQ(svg.find(">NIC"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("class=\"none\""), std::string::npos) << svg;
  EXPECT_FALSE(drawn_lanes(svg).at("ring 1: 0 1 2 3").dashed);
}

TEST(NcclPlanSvg, BracketsDoNotCover) {
  NcclPlan plan = plan_to_draw();
  plan.nodes = 1;
  plan.rings.clear();
  plan.tree_parents = {{-1, 0, 0, 0}};  // two brackets, one in the other
  const std::string svg = nccl_plan_svg({plan, {}, {}});
  EXPECT_NE(svg.find("V-15.5H"), std::string::npos) << svg;
  EXPECT_NE(svg.find("V-30.5H"), std::string::npos) << svg;
}

}  // namespace
}  // namespace collbench::analysis
