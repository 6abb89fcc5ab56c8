#include <gtest/gtest.h>

#include "tests/analysis/models/host/algorithm_fixture.hpp"

namespace collbench::analysis::all_to_all_test {

namespace {

double all_to_all(std::string_view name, const HostModel& model, double size) {
  return seconds_of(OperationId::all_to_all, name, model, size);
}

TEST(PairwiseAllToAll, OnOneNodeTakesPMinus1Steps) {
  for (const int p : {2, 3, 8, 13}) {
    const HostModel model = model_of(in_node_order(1, p));
    for (double size = 64; size < 1e9; size *= 8) {
      EXPECT_SECONDS(all_to_all("pairwise", model, size),
                     (p - 1) * kAlphaIntra + (p - 1.0) / p * size / kIntraRate);
    }
  }
}

TEST(PairwiseAllToAll, WaitingIsTheSumOverStepsOfTheSlowestLink) {
  // Two nodes of four ranks: step k sends min(k, 8 − k) messages out of each node, which can send two at
  // once.
  const HostModel model = model_of(in_node_order(2, 4), two_tier_calibration(2));
  const double block = 1e6;
  double expected = 0;
  for (int k = 1; k < 8; ++k) {
    expected += kAlphaInter + block / kInterRate * std::max(1.0, std::min(k, 8 - k) / 2.0);
  }
  EXPECT_SECONDS(all_to_all("pairwise", model, 8 * block), expected);
}

TEST(LinearAllToAll, TakesOneLatencyAndTheFullestLink) {
  const double block = 1e6;
  const HostModel one_node = model_of(in_node_order(1, 6));
  EXPECT_SECONDS(all_to_all("linear", one_node, 6 * block), kAlphaIntra + 5 * block / kIntraRate);
  // Out of a node: 4 × 4 blocks over one link's worth.
  const HostModel narrow = model_of(in_node_order(2, 4), two_tier_calibration(1));
  EXPECT_SECONDS(all_to_all("linear", narrow, 8 * block), kAlphaInter + 16 * block / kInterRate);
  // With a link for each rank, the rank's own messages are the most: 3 within and 4 across.
  const HostModel wide = model_of(in_node_order(2, 4), two_tier_calibration(4));
  EXPECT_SECONDS(all_to_all("linear", wide, 8 * block),
                 kAlphaInter + 3 * block / kIntraRate + 4 * block / kInterRate);
  EXPECT_EQ(all_to_all("linear_sync", wide, 8 * block), all_to_all("linear", wide, 8 * block));
}

TEST(LinearAllToAll, KeepsTheGapBetweenARanksMessages) {
  Calibration calibration = two_tier_calibration();
  calibration.intra->gap_seconds = 0.5e-6;
  const HostModel model = model_of(in_node_order(1, 9), calibration);
  EXPECT_SECONDS(all_to_all("linear", model, 9e-3), kAlphaIntra + 7 * 0.5e-6);
  EXPECT_SECONDS(all_to_all("linear", model, 9e6), kAlphaIntra + 8e6 / kIntraRate);
}

TEST(ModifiedBruckAllToAll, SendsHalfOfEverythingInEachStep) {
  const double kappa = 1e-10;
  const double size = 8e6;
  const HostModel model = with_work(in_node_order(1, 8), 0, kappa);
  EXPECT_SECONDS(all_to_all("modified_bruck", model, size),
                 3 * (kAlphaIntra + size / 2 / kIntraRate + size / 2 * kappa) + (2 + 1.0 / 8) * size * kappa);
}

TEST(BasicInplaceAllToAll, MakesRoomForHalfOfTheSteps) {
  const double kappa = 1e-10;
  const double block = 1e6;
  for (const int p : {2, 3, 4, 7, 8}) {
    const int copies = p / 2;
    const HostModel model = with_work(in_node_order(1, p), 0, kappa);
    EXPECT_SECONDS(all_to_all("basic_inplace", model, p * block),
                   (p - 1) * (kAlphaIntra + block / kIntraRate) + copies * block * kappa);
  }
}

TEST(AllToAll, CopiesOnesOwnBlock) {
  const double kappa = 1e-10;
  const HostModel plain = model_of(in_node_order(1, 4));
  const HostModel copying = with_work(in_node_order(1, 4), 0, kappa);
  for (const std::string_view name : {"pairwise", "linear"}) {
    EXPECT_SECONDS(all_to_all(name, copying, 4e6) - all_to_all(name, plain, 4e6), 1e6 * kappa);
  }
}

constexpr double kSize = 8e6;

double all_to_all_v(const HostModel& model, const TrafficMatrix& traffic) {
  return host_algorithms(OperationId::all_to_all_v)
      .front()
      .seconds({.model = model, .size_bytes = kSize, .in_place = false, .root = 0, .traffic = &traffic});
}

TEST(AllToAllv, TakesOneLatencyAndTheFullestRank) {
  const HostModel model = model_of(in_node_order(1, 4));
  EXPECT_SECONDS(all_to_all_v(model, traffic_by_distance(4)), kAlphaIntra + kSize / kIntraRate);
  // One that sends all there is: the others have next to nothing.
  EXPECT_SECONDS(all_to_all_v(model, parse_traffic_matrix("0 8 0 0\n0 0 0 1\n0 0 0 0\n0 0 0 0\n", "m")),
                 kAlphaIntra + kSize / kIntraRate);
}

TEST(AllToAllv, WhatARankSendsItselfIsCopied) {
  const HostModel model = with_work(in_node_order(1, 2), 0, 1e-9);
  EXPECT_SECONDS(all_to_all_v(model, parse_traffic_matrix("1 1\n1 1\n", "m")),
                 kAlphaIntra + kSize / 2 / kIntraRate + kSize / 2 * 1e-9);
}

TEST(AllToAllv, ManyIntoOneNodeShareItsLink) {
  // Ranks 0 and 1 of one node each send S to another one: 2S through a link of one flow's rate.
  const TrafficMatrix traffic = parse_traffic_matrix("0 0 1 0\n0 0 0 1\n0 0 0 0\n0 0 0 0\n", "m");
  EXPECT_SECONDS(all_to_all_v(model_of(in_node_order(2, 2), two_tier_calibration(1)), traffic),
                 kAlphaInter + 2 * kSize / kInterRate);
  EXPECT_SECONDS(all_to_all_v(model_of(in_node_order(2, 2), two_tier_calibration(2)), traffic),
                 kAlphaInter + kSize / kInterRate);
}

}  // namespace

}  // namespace collbench::analysis::all_to_all_test
