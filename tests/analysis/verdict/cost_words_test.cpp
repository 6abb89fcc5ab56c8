#include "analysis/verdict/finding_cost.hpp"

#include <gtest/gtest.h>

namespace collbench::analysis::cost_words_test {
namespace {

TEST(CostWords, WithoutALossThereIsNoSentence) {
  EXPECT_EQ(cost_sentence({}), "");
  EXPECT_EQ(all_costs({}), "");
  EXPECT_EQ(cost_sentence({{1, {100, {}, 100}, {100, {}, 100}}}), "");
  EXPECT_EQ(all_costs({{1, {100, 90, 120}, {100, 89.99, 120}}}), "");
}

TEST(CostWords, TheSentenceIsWhatNcclWouldRunWhereThatLosesMost) {
  const PredictedRates one{.ring = 360, .tree = 290, .best = 480, .nvls = 480, .best_by = "nvls"};
  const PredictedRates two{.ring = 360, .tree = 300, .best = 470, .nvls = 470, .best_by = "nvls_tree"};
  EXPECT_EQ(cost_sentence({{1, one, {.ring = 360, .tree = 290, .best = 470, .best_by = "nvls"}},
                           {2, two, {.ring = 300, .tree = 200, .best = 400, .best_by = "nvls_tree"}}}),
            "AllReduce on 2 nodes: nvls_tree 470.0 → 400.0 GB/s (−15 %)");
  EXPECT_EQ(cost_sentence({{1, one, {.ring = 240, .tree = 100, .best = 240, .best_by = "ring"}}}),
            "AllReduce on 1 node: nvls 480.0 → 240.0 GB/s (−50 %) by ring");
}

TEST(CostWords, WhatItTakesDuringAJobStandsBesideWhatItTakesAtItsStart) {
  const PredictedRates whole{.ring = 360, .tree = 300, .best = 400, .best_by = "nvls_tree"};
  const PredictedRates at_start{.ring = 330, .tree = 280, .best = 360, .best_by = "nvls_tree"};
  const PredictedRates everywhere{.ring = 100, .tree = 100, .best = 100, .best_by = "ring"};
  const PredictedRates during{.ring = 180, .tree = 150, .best = 200, .best_by = "nvls_tree"};
  EXPECT_EQ(
      cost_sentence({{2, whole, at_start, CostCase::at_start},
                     {2, whole, everywhere, CostCase::all_nodes},
                     {2, whole, during, CostCase::during_job}}),
      "AllReduce on 2 nodes: nvls_tree 400.0 → 360.0 GB/s (−10 %) if present when NCCL starts, 200.0 GB/s "
      "(−50 %) if it happens during a job");
}

TEST(CostWords, WhatItTakesOnlyDuringAJobIsSaid) {
  const PredictedRates whole{.ring = 42, .tree = 78.6, .best = 78.6, .best_by = "tree"};
  const PredictedRates during{.ring = 12, .tree = 22.5, .best = 22.5, .best_by = "tree"};
  EXPECT_EQ(cost_sentence({{2, whole, whole, CostCase::at_start}, {2, whole, during, CostCase::during_job}}),
            "AllReduce on 2 nodes: tree keeps 78.6 GB/s if present when NCCL starts, 22.5 GB/s (−71 %) if it "
            "happens "
            "during a job");
  const PredictedRates ring_only{.ring = 36, .tree = 78.6, .best = 78.6, .best_by = "tree"};
  EXPECT_EQ(
      cost_sentence({{2, whole, ring_only, CostCase::at_start}, {2, whole, during, CostCase::during_job}}),
      "AllReduce on 2 nodes: tree keeps 78.6 GB/s if present when NCCL starts, 22.5 GB/s (−71 %) if it "
      "happens "
      "during a job; what runs as a ring (AllGather, ReduceScatter) −14 %");
}

TEST(CostWords, ALossDuringAJobOnOtherNodesIsNotHidden) {
  const PredictedRates one{.ring = 100, .tree = {}, .best = 100, .best_by = "ring"};
  const PredictedRates two{.ring = 90, .tree = {}, .best = 90, .best_by = "ring"};
  EXPECT_EQ(
      cost_sentence(
          {{1, one, {.ring = 98, .tree = {}, .best = 98, .best_by = "ring"}, CostCase::at_start},
           {2, two, {.ring = 45, .tree = {}, .best = 45, .best_by = "ring"}, CostCase::during_job}}),
      "AllReduce on 1 node: ring 100.0 → 98.0 GB/s (−2 %) if present when NCCL starts, on 2 nodes 45.0 GB/s "
      "(−50 %) if it happens during a job");
}

TEST(CostWords, ALossOfTheRingAloneIsSaidOfTheRing) {
  EXPECT_EQ(cost_sentence({{2, {360, 300, 400, {}, "nvls_tree"}, {180, 300, 400, {}, "nvls_tree"}}}),
            "AllReduce on 2 nodes: ring 360.0 → 180.0 GB/s (−50 %); nvls_tree keeps its rate");
}

TEST(CostWords, AllCostsLeaveOutWhatKeepsItsRate) {
  EXPECT_EQ(all_costs({{1, {100, {}, 120}, {50, {}, 60}}}),
            "AllReduce on 1 node: ring 100.0 → 50.0 GB/s (−50 %) and best 120.0 → 60.0 GB/s (−50 %)");
  EXPECT_EQ(all_costs({{1, {100, 90, 120}, {100, 89.99, 119.6}}}),
            "AllReduce on 1 node: best 120.0 → 119.6 GB/s (−0.3 %)");
}

}  // namespace
}  // namespace collbench::analysis::cost_words_test
