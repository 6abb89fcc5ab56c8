#include <gtest/gtest.h>

#include "tests/analysis/models/host/algorithm_fixture.hpp"

namespace collbench::analysis::all_gather_test {
namespace {

double all_gather(std::string_view name, const HostModel& model, double size, bool in_place = false) {
  return seconds_of(OperationId::all_gather, name, model, size, in_place);
}

TEST(RingAllGather, TakesHalfOfARingAllReduce) {
  for (const int p : {2, 3, 5, 16}) {
    const HostModel model = model_of(in_node_order(1, p));
    for (double size = 64; size < 1e9; size *= 8) {
      EXPECT_SECONDS(all_gather("ring", model, size),
                     (p - 1) * kAlphaIntra + (p - 1.0) / p * size / kIntraRate);
    }
  }
}

TEST(RingAllGather, CopiesOnesOwnBlockOutOfPlace) {
  const double kappa = 1e-10;
  const HostModel model = with_work(in_node_order(1, 4), 0, kappa);
  EXPECT_SECONDS(all_gather("ring", model, 4e6) - all_gather("ring", model, 4e6, true), 1e6 * kappa);
}

TEST(NeighborAllGather, TakesHalfOfTheStepsForTheSameBytes) {
  for (const int p : {2, 4, 6, 10}) {
    const HostModel model = model_of(in_node_order(1, p));
    EXPECT_SECONDS(all_gather("neighbor", model, 1e7),
                   p / 2.0 * kAlphaIntra + (p - 1.0) / p * 1e7 / kIntraRate);
  }
}

TEST(RecursiveDoublingAllGather, DoublesWhatItHas) {
  const HostModel model = model_of(in_node_order(1, 8));
  EXPECT_SECONDS(all_gather("recursive_doubling", model, 8e6), 3 * kAlphaIntra + 7e6 / kIntraRate);
}

TEST(BruckAllGather, RunsOnAnyNumberAndReordersTheBlocks) {
  const double kappa = 1e-10;
  const HostModel model = with_work(in_node_order(1, 5), 0, kappa);  // 1, 2 and 1 blocks
  EXPECT_SECONDS(all_gather("bruck", model, 5e6, true), 3 * kAlphaIntra + 4e6 / kIntraRate + 5e6 * kappa);
}

TEST(LinearAllGather, GathersAndBroadcasts) {
  const HostModel model = model_of(in_node_order(1, 4));
  EXPECT_SECONDS(all_gather("linear", model, 4e6),
                 3 * (kAlphaIntra + 1e6 / kIntraRate) + 2 * (kAlphaIntra + 4e6 / kIntraRate));
}

TEST(TwoProcAllGather, IsOneExchange) {
  const HostModel model = model_of(in_node_order(1, 2));
  EXPECT_SECONDS(all_gather("two_proc", model, 2e6), kAlphaIntra + 1e6 / kIntraRate);
}

}  // namespace
}  // namespace collbench::analysis::all_gather_test
