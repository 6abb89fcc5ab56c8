#include "tools/nccl_plan/report/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/document/text_layout.hpp"
#include "tests/analysis/hostile_texts.hpp"

namespace collbench::analysis {
namespace {

/// Two nodes of two GPUs: two rings, two trees, a slow second node.
NcclPlan example() {
  NcclPlan plan;
  plan.machine = "example";
  plan.nodes = 2;
  plan.ranks = 4;
  plan.library = "/opt/libnccl.so.2";
  plan.version = "2.30.7+cuda12.9";
  plan.nics = {"mlx5_0", "mlx5_3"};
  const NcclSearchGraph ring{NcclAlgorithm::ring, 4, 2, 8, 48e9, 48e9, "NVL", "PIX", {}};
  NcclSearchGraph slow = ring;
  slow.channels = 15;
  slow.intra_bytes_per_second = slow.inter_bytes_per_second = 24e9;
  plan.graphs = {{ring}, {slow}};
  plan.collective_channels = 2;
  plan.nvls_channels = 16;
  plan.p2p_channels = 8;
  plan.p2p_channels_per_peer = 4;
  plan.rings = {{0, 1, 3, 2}, {0, 1, 3, 2}};
  plan.tree_parents = {{-1, 0, 0, 2}, {2, 0, -1, 2}};
  plan.nvls_heads = {{0, 2}};
  plan.connections = {{0, 1, 3, 1, 0, true, {}},
                      {0, 2, 0, 0, 0, true, {}},
                      {1, 1, 3, 1, 0, true, {}},
                      {1, 2, 0, 0, 0, true, {}},
                      {0, 0, 2, 0, 1, true, {}}};
  plan.tuning = {{"AllReduce", "tree", "ll", 25.2e-6, 16.6e9}, {"Broadcast", "ring", "ll", 7.2e-6, 41e9}};
  plan.rows = {{OperationId::all_reduce, 1024, {"tree", "ll", 1, {}}, 25.3e-6},
               {OperationId::all_reduce, 1048576, {"ring", "ll128", 2, {}}, std::nullopt}};
  return plan;
}

std::string text_of(const NcclPlanReport& report, int columns = 120) {
  return nccl_plan_document(report, "text", columns);
}

bool has_line(const std::string& text, const std::string& line) {
  std::istringstream lines(text);
  for (std::string each; std::getline(lines, each);) {
    if (each == line) return true;
  }
  return false;
}

TEST(NcclPlanReport, GraphsAreWhatNodesAgreeOnAndWhatEachFound) {
  const std::string text = text_of({example(), {}, {}});
  EXPECT_TRUE(has_line(text, "  graph  pattern  path     channels  GB/s inside  between  found by each node"))
      << text;
  EXPECT_TRUE(has_line(text, "  ring   4        NVL/PIX         8           24       24  8 × 48 | 15 × 24"))
      << text;
  EXPECT_TRUE(has_line(text, "  channels that run: 2 of rings and trees, 16 NVLS, 8 p2p (4 per peer)"))
      << text;
}

TEST(NcclPlanReport, OfManyNodesTheCountsAreShown) {
  NcclPlan plan = example();
  plan.graphs.resize(6, plan.graphs.front());
  EXPECT_NE(text_of({plan, {}, {}}).find("15 × 24 on 1, 8 × 48 on 5"), std::string::npos)
      << text_of({plan, {}, {}});
}

TEST(NcclPlanReport, RingsOfOneWayAreOneLineWithTheirNics) {
  const std::string text = text_of({example(), {}, {}});
  EXPECT_TRUE(has_line(text, "  0, 1: 0 1 =1:0=> 3 2 =0:0=> 0")) << text;
}

TEST(NcclPlanReport, NodesThatNvlinkJoinsNeedNoNic) {
  NcclPlan plan = example();
  plan.nodes_per_domain = 18;
  plan.connections.clear();
  const std::string text = text_of({plan, {}, {}});
  EXPECT_TRUE(has_line(text, "rings by channel (ranks)")) << text;
  EXPECT_TRUE(has_line(text, "  0, 1: 0 1 3 2")) << text;
  EXPECT_TRUE(has_line(text, "  ring   4        NVL          8           24        –  8 × 48 | 15 × 24"))
      << text;
  EXPECT_EQ(text.find("NICs: "), std::string::npos) << text;
}

TEST(NcclPlanReport, TreesBranchInParentheses) {
  const std::string text = text_of({example(), {}, {}});
  EXPECT_TRUE(has_line(text, "  0: 0 (1) =0:1=> 2 3")) << text;
  EXPECT_TRUE(has_line(text, "  1: 2 (=0:0=> 0 1) 3")) << text;
}

TEST(NcclPlanReport, OnlyBranchesAreInParentheses) {
  NcclPlan plan = example();
  plan.nodes = 1;
  plan.tree_parents = {{-1, 0, 1, 0}};
  EXPECT_TRUE(has_line(text_of({plan, {}, {}}), "  0: 0 (1 2) 3")) << text_of({plan, {}, {}});
}

TEST(NcclPlanReport, SendsAndReceivesAreOneLine) {
  NcclPlan plan = example();
  plan.rows = {{OperationId::all_to_all, 8, {"p2p", "", 0, {}}, {}},
               {OperationId::all_to_all, 16, {"p2p", "", 0, {}}, {}}};
  const std::string text = text_of({plan, {}, {}});
  EXPECT_TRUE(has_line(text,
                       "AllToAll: sends and receives over 4 channels for each peer; NCCL selects no "
                       "algorithm and estimates no time."))
      << text;
  EXPECT_EQ(text.find("AllToAll: what"), std::string::npos);
  EXPECT_TRUE(text.starts_with("NCCL chooses no algorithm: sends and receives only\n")) << text;
}

TEST(NcclPlanReport, ATreeThatIsNoneIsNotKnown) {
  NcclPlan plan = example();
  plan.tree_parents = {{1, 0, -1, 9}, {}, {-1, -1, 0, 0}, {-1, 2, 1, 0}};
  const std::string text = text_of({plan, {}, {}});
  EXPECT_TRUE(has_line(text, "  0-3: not known")) << text;
}

TEST(NcclPlanReport, ChoicesHaveATimeAndABusBandwidthWhereNcclSaysOne) {
  const std::string text = text_of({example(), {}, {}});
  EXPECT_TRUE(text.starts_with("NCCL chooses at 1 MiB: AllReduce ring/ll128 × 2\n")) << text;
  EXPECT_TRUE(has_line(text, "     1 KiB  tree       ll               1      25.30       0.06071")) << text;
  EXPECT_TRUE(has_line(text, "     1 MiB  ring       ll128            2          –             –")) << text;
}

TEST(NcclPlanReport, ANarrowPageLeavesReduceOut) {
  NcclPlan plan = example();
  for (const char* function : {"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce"})
    plan.tuning.push_back({function, "nvls_tree", "simple", 1131.6e-6, 1204.8e9});
  EXPECT_NE(text_of({plan, {}, {}}, 120).find(" Broadcast         Reduce\n"), std::string::npos);
  const std::string narrow = text_of({plan, {}, {}}, 80);
  EXPECT_NE(narrow.find(" Broadcast\n"), std::string::npos) << narrow;
  std::istringstream lines(narrow);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
}

TEST(NcclPlanReport, VersusSaysOnlyWhatIsOtherwise) {
  NcclPlan other = example();
  other.version = "2.27.7+cuda12.9";
  other.graphs[1] = other.graphs[0];
  other.rows[1].selection = {"nvls_tree", "simple", 16, {}};
  other.rows[0].expected_seconds = 25.3e-6 * 1.1;
  const std::string text = text_of({example(), other, "NCCL_X=1"});
  EXPECT_TRUE(text.starts_with("With NCCL_X=1: 2 changes of choice or time; NCCL's time +10.0 %\n")) << text;
  EXPECT_TRUE(has_line(text, "with NCCL_X=1 (NCCL 2.27.7+cuda12.9)")) << text;
  EXPECT_TRUE(has_line(text, "  ring: 8 × 24/24 GB/s NVL/PIX crossNic 2 → 8 × 48/48 GB/s NVL/PIX crossNic 2"))
      << text;
  EXPECT_NE(text.find("AllReduce 1 KiB  tree/ll × 1"), std::string::npos) << text;
  EXPECT_NE(text.find("+10.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("nvls_tree/simple × 16"), std::string::npos) << text;
  EXPECT_EQ(text.find("rings by channel"), std::string::npos);
  const std::string narrow = text_of({example(), other, "NCCL_X=1"}, 80);
  EXPECT_NE(narrow.find("nvls_tree/simple × 16"), std::string::npos) << narrow;
  std::istringstream lines(narrow);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
}

TEST(NcclPlanReport, VersusTheSameSaysThatNothingIsOtherwise) {
  const std::string text = text_of({example(), example(), "NCCL_X=1"});
  EXPECT_TRUE(text.starts_with("With NCCL_X=1: nothing differs\n")) << text;
  EXPECT_TRUE(has_line(text, "  the same graphs, channels, choices and times")) << text;
}

TEST(NcclPlanReport, JsonHasBothPlansAndTheirDifference) {
  const auto alone = nlohmann::json::parse(nccl_plan_json({example(), {}, {}}));
  EXPECT_EQ(alone["plan"]["machine"], "example");
  EXPECT_TRUE(alone["diff"].is_null());
  NcclPlan other = example();
  other.collective_channels = 4;
  const auto both = nlohmann::json::parse(nccl_plan_json({example(), other, "NCCL_X=1"}));
  EXPECT_TRUE(
      text_of({example(), other, "NCCL_X=1"}).starts_with("With NCCL_X=1: the same choices and times, "));
  EXPECT_EQ(both["versus_name"], "NCCL_X=1");
  EXPECT_EQ(both["versus"]["collective_channels"], 4);
  EXPECT_EQ(both["diff"]["counts"][0]["after"], 4);
}

TEST(NcclPlanReport, NoNameReachesAnyFormatRaw) {
  for (const std::string& hostile : kHostileTexts) {
    NcclPlanReport plan{.plan = {}, .versus = {}, .versus_name = hostile, .notes = {hostile}};
    plan.plan.nics = {hostile};
    plan.plan.network = hostile;
    plan.plan.warnings = {hostile};
    for (const std::string& format : nccl_plan_formats())
      expect_harmless(nccl_plan_document(plan, format, 80), format, hostile);
  }
}

}  // namespace
}  // namespace collbench::analysis
