#include "tools/nccl_plan/plan/nccl_plan.hpp"

#include <gtest/gtest.h>

namespace collbench {
namespace {

NcclSearchGraph graph(NcclAlgorithm algorithm, int channels, double intra, double inter,
                      const std::string& intra_type = "NVL", const std::string& inter_type = "PIX") {
  return {
      algorithm, algorithm == NcclAlgorithm::ring ? 4 : 1, 0, channels, intra, inter, intra_type, inter_type,
      {}};
}

NcclPlan two_nodes(const std::vector<NcclSearchGraph>& first, const std::vector<NcclSearchGraph>& second) {
  NcclPlan plan;
  plan.nodes = 2;
  plan.ranks = 4;
  plan.graphs = {first, second};
  return plan;
}

TEST(NcclPlan, NodesAgreeOnTheLeastOfAll) {
  const NcclPlan plan = two_nodes({graph(NcclAlgorithm::ring, 8, 48e9, 40e9, "NVL", "PXB")},
                                  {graph(NcclAlgorithm::ring, 15, 24e9, 48e9, "PHB", "PIX")});
  const auto agreed = agreed_graph(plan, NcclAlgorithm::ring);
  ASSERT_TRUE(agreed);
  EXPECT_EQ(agreed->channels, 8);
  EXPECT_EQ(agreed->intra_bytes_per_second, 24e9);
  EXPECT_EQ(agreed->inter_bytes_per_second, 40e9);
  EXPECT_EQ(agreed->intra_type, "PHB");
  EXPECT_EQ(agreed->inter_type, "PXB");
}

TEST(NcclPlan, RingsAndTreesRunOverTheSameChannels) {
  const std::vector<NcclSearchGraph> node{graph(NcclAlgorithm::ring, 8, 48e9, 48e9),
                                          graph(NcclAlgorithm::tree, 6, 48e9, 48e9),
                                          graph(NcclAlgorithm::nvls, 7, 40e9, 48e9)};
  const NcclPlan plan = two_nodes(node, node);
  EXPECT_EQ(agreed_graph(plan, NcclAlgorithm::ring).value().channels, 6);
  EXPECT_EQ(agreed_graph(plan, NcclAlgorithm::tree).value().channels, 6);
  EXPECT_EQ(agreed_graph(plan, NcclAlgorithm::nvls).value().channels, 7);
}

TEST(NcclPlan, AGraphThatOneNodeLacksIsNotAgreed) {
  EXPECT_FALSE(agreed_graph(two_nodes({graph(NcclAlgorithm::nvls, 8, 1, 1)}, {}), NcclAlgorithm::nvls));
  EXPECT_FALSE(agreed_graph(NcclPlan{}, NcclAlgorithm::ring));
}

TEST(NcclPlan, JsonHoldsWhatIsKnownAndNullForTheRest) {
  NcclPlan plan =
      two_nodes({graph(NcclAlgorithm::ring, 1, 48e9, 24e9)}, {graph(NcclAlgorithm::ring, 1, 48e9, 24e9)});
  plan.graphs[0][0].channel = {{0, std::nullopt, {0, 1}}};
  plan.settings = {{"NCCL_CROSS_NIC", "0"}};
  plan.rings = {{0, 1, 3, 2}};
  plan.connections = {{0, 1, 3, 5, std::nullopt, true, std::nullopt}};
  plan.rows = {{OperationId::all_gather, 1024, {"ring", "ll", 2, {}}, std::nullopt},
               {OperationId::all_reduce, 2048, {"tree", "ll", 1, {{"tree", "ll", 1e-5}}}, 1e-5}};
  const Json json = nccl_plan_to_json(plan);
  EXPECT_EQ(json["graphs_by_node"][0][0]["channel"][0],
            (Json{{"nic_in", 0}, {"nic_out", nullptr}, {"ranks", {0, 1}}}));
  EXPECT_EQ(json["graphs_agreed"][0]["inter_bytes_per_second"], 24e9);
  EXPECT_EQ(json["settings"]["NCCL_CROSS_NIC"], "0");
  EXPECT_EQ(json["rings"], (Json{{0, 1, 3, 2}}));
  EXPECT_EQ(json["connections"][0]["send_nic"], 5);
  EXPECT_EQ(json["connections"][0]["receive_nic"], nullptr);
  EXPECT_EQ(json["rows"][0]["operation"], "AllGather");
  EXPECT_EQ(json["rows"][0]["expected_seconds"], nullptr);
  EXPECT_EQ(json["rows"][1]["expected_seconds"], 1e-5);
  EXPECT_EQ(json["rows"][1]["nccl"]["algorithm"], "tree");
}

}  // namespace
}  // namespace collbench
