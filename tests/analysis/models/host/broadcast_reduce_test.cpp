#include "analysis/models/host/algorithms.hpp"

#include <gtest/gtest.h>

#include "analysis/models/host/comm_schedules.hpp"
#include "tests/analysis/models/host/algorithm_fixture.hpp"

namespace collbench::analysis::broadcast_reduce_test {
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
  const auto work = [&](const Identities& ranks, bool in_place) {
    return tree(with_work(ranks, gamma, kappa), size, in_place) - tree(model_of(ranks), size);
  };
  EXPECT_NEAR(work(in_node_order(1, 4), true), size * gamma, 1e-12);
  EXPECT_NEAR(work(in_node_order(2, 1), true), size / 2 * gamma, 1e-12);
  EXPECT_NEAR(work(in_node_order(4, 4), true), 2 * size * gamma, 1e-12);
  EXPECT_NEAR(work(in_node_order(4, 4), false), 2 * size * gamma + size * kappa, 1e-12);
}

TEST(Pipeline, TakesTheSegmentThatIsQuickest) {
  const HostModel model = model_of(in_node_order(1, 4));
  const HostCall call{.model = model, .size_bytes = 1e6, .in_place = false};
  const LogGpSimulator start(model, SentData::forwarded, 0);
  const Round chain = chain_round(model, TreeWay::from_root, 0);
  // Eager segments cost no latency; the whole in one piece would wait for one.
  EXPECT_SECONDS(pipeline_seconds(call, chain, start, [](double) { return 0.0; }), 1e6 / kIntraRate);
  // Work that each segment costs makes the whole in one piece the quickest.
  const double with_work = pipeline_seconds(call, chain, start, [](double) { return 1.0; });
  EXPECT_GT(with_work, 1);
  EXPECT_LT(with_work, 2.1);
}

constexpr double kWaiting = 1e6;  // bytes, above the eager limit

double broadcast(std::string_view name, const HostModel& model, double size) {
  return seconds_of(OperationId::broadcast, name, model, size);
}

TEST(Broadcast, LinearGoesThroughTheRootsLinkOnceForEachOther) {
  const HostModel model = model_of(in_node_order(1, 5));
  EXPECT_SECONDS(broadcast("basic_linear", model, kWaiting), 4 * (kAlphaIntra + kWaiting / kIntraRate));
  // Eager messages leave one after the other, and nobody waits.
  EXPECT_SECONDS(broadcast("basic_linear", model, 1e4), 4 * 1e4 / kIntraRate);
}

TEST(Broadcast, WaitingAlongTheBinomialTreeTakesAtLeastTheRootsMessages) {
  const HostModel model = model_of(in_node_order(1, 8));
  const double step = kAlphaIntra + kWaiting / kIntraRate;
  EXPECT_GE(broadcast("binomial", model, kWaiting), 3 * step * 0.999);
  EXPECT_LE(broadcast("binomial", model, kWaiting), 4 * step);
  EXPECT_SECONDS(broadcast("binomial", model_of(in_node_order(1, 2)), kWaiting), step);
}

TEST(Broadcast, APipelineTakesWhatItsSlowestHopTakes) {
  EXPECT_SECONDS(broadcast("pipeline", model_of(in_node_order(1, 8)), 4e6), 4e6 / kIntraRate);
  EXPECT_SECONDS(broadcast("pipeline", model_of(in_node_order(2, 4)), 4e6), 4e6 / kInterRate);
}

TEST(Broadcast, BeginsAtItsRoot) {
  // Rank 3 alone on its node: from there every message of the linear algorithm crosses.
  Identities ranks = in_node_order(1, 4);
  ranks[3].node = 1;
  ranks[3].local_rank = 0;
  const HostModel model = model_of(ranks, two_tier_calibration(1));
  const auto algorithms = host_algorithms(OperationId::broadcast);
  const auto from = [&](int root) {
    return algorithms.front().seconds(
        {.model = model, .size_bytes = kWaiting, .in_place = false, .root = root});
  };
  EXPECT_SECONDS(from(3), 3 * (kAlphaInter + kWaiting / kInterRate));
  EXPECT_SECONDS(from(0), 2 * (kAlphaIntra + kWaiting / kIntraRate) + kAlphaInter + kWaiting / kInterRate);
}

constexpr double kGamma = 1e-10;
constexpr double kSize = 1e6;

double reduce(std::string_view name, int ranks, double gamma) {
  return seconds_of(OperationId::reduce, name, with_work(in_node_order(1, ranks), gamma, 0), kSize);
}

TEST(Reduce, LinearGoesThroughTheRootsLinkAndItsArithmetic) {
  const double step = kAlphaIntra + kSize / kIntraRate;
  EXPECT_SECONDS(reduce("linear", 5, 0), 4 * step);
  EXPECT_SECONDS(reduce("linear", 5, kGamma), 4 * (step + kSize * kGamma));
}

TEST(Reduce, TheBinomialTreeReducesOnceALevel) {
  EXPECT_SECONDS(reduce("binomial", 2, kGamma), kAlphaIntra + kSize / kIntraRate + kSize * kGamma);
  EXPECT_GE(reduce("binomial", 8, kGamma), 3 * (kAlphaIntra + kSize / kIntraRate + kSize * kGamma) * 0.999);
}

TEST(Reduce, APipelineTakesItsSlowestHopAndItsArithmetic) {
  EXPECT_SECONDS(reduce("pipeline", 8, 0), kSize / kIntraRate);
  EXPECT_GE(reduce("pipeline", 8, kGamma), kSize * kGamma);
}

}  // namespace

}  // namespace collbench::analysis::broadcast_reduce_test
