#include <gtest/gtest.h>

#include "base/record/operation.hpp"
#include "tests/analysis/models/host/algorithm_fixture.hpp"

namespace collbench::analysis::all_reduce_test {
namespace {

double all_reduce(std::string_view name, const HostModel& model, double size, bool in_place = false) {
  return seconds_of(OperationId::all_reduce, name, model, size, in_place);
}

double ring(const HostModel& model, double size) { return all_reduce("ring", model, size); }

TEST(RingAllReduce, OnOneNodeTakesItsClosedForm) {
  for (int p = 2; p <= 40; p += 3) {
    const HostModel model = model_of(in_node_order(1, p));
    for (double size = 64; size < 1e9; size *= 8) {
      EXPECT_SECONDS(ring(model, size), 2 * (p - 1) * kAlphaIntra + 2.0 * (p - 1) / p * size / kIntraRate)
          << p << " ranks, " << size << " B";
    }
  }
}

TEST(RingAllReduce, AcrossNodesWithEagerSendsCrossesTwicePerNode) {
  for (const auto& [nodes, per_node] : {std::pair{2, 8}, {4, 4}, {3, 5}, {8, 2}}) {
    const HostModel model = model_of(in_node_order(nodes, per_node));
    const int p = nodes * per_node;
    // With g = 2 every hop but one in two crosses: no two hops in a row stay, and one crossing less is left.
    const int crossings = per_node == 2 ? 2 * nodes - 1 : 2 * nodes;
    EXPECT_SECONDS(ring(model, 1e-6), (2 * (p - 1) - crossings) * kAlphaIntra + crossings * kAlphaInter)
        << nodes << " x " << per_node;
  }
}

TEST(RingAllReduce, AcrossNodesWithWaitingSendsTakesTheSlowHopInEachStep) {
  for (const auto& [nodes, per_node] : {std::pair{2, 8}, {4, 4}, {3, 5}}) {
    const HostModel model = model_of(in_node_order(nodes, per_node));
    const int p = nodes * per_node;
    for (const double block : {65536.0, 1e6, 32e6}) {
      EXPECT_SECONDS(ring(model, block * p), 2 * (p - 1) * (kAlphaInter + block / kInterRate));
    }
  }
}

TEST(RingAllReduce, OneRankPerNodeHasOneTier) {
  const HostModel model = model_of(in_node_order(5, 1));
  EXPECT_SECONDS(ring(model, 1000), 8 * kAlphaInter + 8.0 / 5 * 1000 / kInterRate);
  EXPECT_SECONDS(ring(model, 5e6), 8 * kAlphaInter + 8.0 / 5 * 5e6 / kInterRate);
}

TEST(RingAllReduce, RanksDealtOutInTurnAllCrossAndShareTheirNodesLink) {
  const HostModel model = model_of(cyclic(2, 4), two_tier_calibration(2));
  const double block = 1e6;
  EXPECT_SECONDS(ring(model, 8 * block), 14 * (kAlphaInter + block / (2 * kInterRate / 4)));
}

TEST(RingAllReduce, ReducesEachByteOnceAndCopiesTheInput) {
  const int p = 4;
  const double gamma = 3e-11;
  const double kappa = 5e-11;
  const double size = 1e7;
  const HostModel model = with_work(in_node_order(1, p), gamma, kappa);
  const double moved = 2 * (p - 1) * kAlphaIntra + 2.0 * (p - 1) / p * size / kIntraRate;
  const double reduced = (p - 1.0) / p * size * gamma;
  EXPECT_SECONDS(ring(model, size), moved + reduced + size * kappa);
  EXPECT_SECONDS(all_reduce("ring", model, size, true), moved + reduced);
}

TEST(RingAllReduce, BusBandwidthOfVeryMuchIsTheLinks) {
  for (const int p : {2, 3, 8, 32}) {
    const HostModel model = model_of(in_node_order(1, p));
    const std::uint64_t size = std::uint64_t{1} << 50;
    const double seconds = ring(model, static_cast<double>(size));
    EXPECT_NEAR(bus_bandwidth(operation(OperationId::all_reduce), size, p, seconds) / kIntraRate, 1, 1e-6);
  }
}

TEST(RingAllReduce, IsReduceScatterAndAllGather) {
  for (const auto& ranks : {in_node_order(1, 6), in_node_order(1, 2)}) {
    for (const double gamma : {0.0, 2e-11}) {
      const HostModel model = with_work(ranks, gamma, 0);
      for (double size = 64; size < 1e9; size *= 4) {
        EXPECT_SECONDS(ring(model, size), seconds_of(OperationId::reduce_scatter, "ring", model, size) +
                                              seconds_of(OperationId::all_gather, "ring", model, size));
      }
    }
  }
}

TEST(RecursiveDoublingAllReduce, ExchangesEverythingLogarithmicallyOften) {
  const double gamma = 1e-11;
  const double size = 1e6;
  const double step = kAlphaIntra + size / kIntraRate + size * gamma;
  EXPECT_SECONDS(all_reduce("recursive_doubling", with_work(in_node_order(1, 8), gamma, 0), size), 3 * step);
  // Six ranks: two guests hand over before and get the result after.
  EXPECT_SECONDS(all_reduce("recursive_doubling", with_work(in_node_order(1, 6), gamma, 0), size),
                 4 * step - size * gamma);
}

TEST(RecursiveDoublingAllReduce, SharesTheNodesLink) {
  const HostModel model = model_of(in_node_order(2, 2), two_tier_calibration(1));
  const double size = 1e6;
  EXPECT_SECONDS(all_reduce("recursive_doubling", model, size),
                 kAlphaIntra + size / kIntraRate + kAlphaInter + 2 * size / kInterRate);
}

TEST(RabenseifnerAllReduce, MovesWhatARingMovesInFewerSteps) {
  const double gamma = 1e-11;
  const double size = 1e7;
  const HostModel model = with_work(in_node_order(1, 8), gamma, 0);
  EXPECT_SECONDS(all_reduce("rabenseifner", model, size),
                 2 * 3 * kAlphaIntra + 2 * 7.0 / 8 * size / kIntraRate + 7.0 / 8 * size * gamma);
  // Six ranks: a pair reduces half of S each, brings it together, and the guest gets all of S at the end.
  const HostModel six = with_work(in_node_order(1, 6), gamma, 0);
  EXPECT_SECONDS(
      all_reduce("rabenseifner", six, size),
      7 * kAlphaIntra + (0.5 + 0.5 + 2 * 3.0 / 4 + 1) * size / kIntraRate + (0.5 + 3.0 / 4) * size * gamma);
}

TEST(NonoverlappingAllReduce, ClimbsABinomialTreeAndComesBack) {
  const double gamma = 1e-11;
  const double size = 1e6;
  EXPECT_SECONDS(all_reduce("nonoverlapping", with_work(in_node_order(1, 8), gamma, 0), size),
                 6 * (kAlphaIntra + size / kIntraRate) + 3 * size * gamma);
}

TEST(BasicLinearAllReduce, GoesThroughOneRank) {
  const double gamma = 1e-11;
  const double size = 1e6;
  EXPECT_SECONDS(all_reduce("basic_linear", with_work(in_node_order(1, 5), gamma, 0), size),
                 8 * (kAlphaIntra + size / kIntraRate) + 4 * size * gamma);
}

TEST(SegmentedRingAllReduce, IsSetAgainstTheRing) {
  const HostModel model = with_work(in_node_order(1, 5), 1e-11, 1e-11);
  EXPECT_EQ(all_reduce("segmented_ring", model, 1e6), ring(model, 1e6));
}

}  // namespace
}  // namespace collbench::analysis::all_reduce_test
