#include <gtest/gtest.h>

#include "tests/analysis/host_algorithm_fixture.hpp"

namespace collbench::host_broadcast_test {
namespace {

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
  Identities place = in_node_order(1, 4);
  place[3].node = 1;
  place[3].local_rank = 0;
  const HostModel model = model_of(place, two_tier_calibration(1));
  const auto algorithms = host_algorithms(OperationId::broadcast);
  const auto from = [&](int root) {
    return algorithms.front().seconds(
        {.model = model, .size_bytes = kWaiting, .in_place = false, .root = root});
  };
  EXPECT_SECONDS(from(3), 3 * (kAlphaInter + kWaiting / kInterRate));
  EXPECT_SECONDS(from(0), 2 * (kAlphaIntra + kWaiting / kIntraRate) + kAlphaInter + kWaiting / kInterRate);
}

}  // namespace
}  // namespace collbench::host_broadcast_test
