#include "analysis/host_tree.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/host_algorithm_fixture.hpp"

namespace collbench::host_tree_test {
namespace {

double tree(const HostModel& model, double size, bool in_place = true) {
  return host_tree_all_reduce({.model = model, .size_bytes = size, .in_place = in_place});
}

TEST(TreeAllReduce, OnOneNodeIsAChain) {
  const double size = 1e8;
  EXPECT_SECONDS(tree(model_of(in_node_order(1, 2)), size), 2 * kAlphaIntra + size / kIntraRate);
  EXPECT_SECONDS(tree(model_of(in_node_order(1, 3)), size), 4 * kAlphaIntra + 2 * size / kIntraRate);
  EXPECT_SECONDS(tree(model_of(in_node_order(1, 8)), size), 14 * kAlphaIntra + 2 * size / kIntraRate);
}

TEST(TreeAllReduce, BetweenNodesIsTwoBinaryTrees) {
  const double size = 1e8;
  EXPECT_SECONDS(tree(model_of(in_node_order(2, 1)), size), 2 * kAlphaInter + size / kInterRate);
  EXPECT_SECONDS(tree(model_of(in_node_order(3, 1)), size), 2 * kAlphaInter + 2 * size / kInterRate);
  EXPECT_SECONDS(tree(model_of(in_node_order(8, 1)), size), 6 * kAlphaInter + 2 * size / kInterRate);
}

TEST(TreeAllReduce, TakesTheFullerLinkOfNodeAndRank) {
  const double size = 1e8;
  const double latency = 2 * (3 * kAlphaIntra + kAlphaInter);
  // 2S over a rank's 50 GB/s against S over a node's 25 or 100 GB/s.
  EXPECT_SECONDS(tree(model_of(in_node_order(2, 4), two_tier_calibration(0.5)), size),
                 latency + size / (0.5 * kInterRate));
  EXPECT_SECONDS(tree(model_of(in_node_order(2, 4), two_tier_calibration(4)), size),
                 latency + 2 * size / kIntraRate);
}

TEST(TreeAllReduce, ReducesItsChildrenAndCopiesOutOfPlace) {
  const double size = 1e6;
  const double gamma = 1e-9;
  const double kappa = 2e-9;
  const auto work = [&](const Identities& place, bool in_place) {
    return tree(with_work(place, gamma, kappa), size, in_place) - tree(model_of(place), size);
  };
  EXPECT_NEAR(work(in_node_order(1, 4), true), size * gamma, 1e-12);
  EXPECT_NEAR(work(in_node_order(2, 1), true), size / 2 * gamma, 1e-12);
  EXPECT_NEAR(work(in_node_order(4, 4), true), 2 * size * gamma, 1e-12);
  EXPECT_NEAR(work(in_node_order(4, 4), false), 2 * size * gamma + size * kappa, 1e-12);
}

}  // namespace
}  // namespace collbench::host_tree_test
