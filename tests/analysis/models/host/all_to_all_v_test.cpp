#include <gtest/gtest.h>

#include "tests/analysis/models/host/algorithm_fixture.hpp"

namespace collbench::analysis::all_to_all_v_test {
namespace {

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
}  // namespace collbench::analysis::all_to_all_v_test
