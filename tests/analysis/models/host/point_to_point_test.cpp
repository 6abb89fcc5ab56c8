#include <gtest/gtest.h>

#include "tests/analysis/models/host/algorithm_fixture.hpp"

namespace collbench::analysis::point_to_point_test {
namespace {

double send_recv(const HostModel& model, double size) {
  return seconds_of(OperationId::send_recv, "send_recv", model, size);
}

TEST(SendRecv, IsAlphaAndItsBytesOverTheRate) {
  for (const int p : {2, 3, 8}) {
    const HostModel model = model_of(in_node_order(1, p));
    for (double size = 8; size < 1e9; size *= 16) {
      EXPECT_SECONDS(send_recv(model, size), kAlphaIntra + size / kIntraRate);
    }
  }
}

TEST(SendRecv, EagerShiftsTakeTheMeanHopAndWaitingOnesTheSlowest) {
  const HostModel model = model_of(in_node_order(2, 4));
  EXPECT_SECONDS(send_recv(model, 1e-6), (2 * kAlphaInter + 6 * kAlphaIntra) / 8);
  EXPECT_SECONDS(send_recv(model, 1e6), kAlphaInter + 1e6 / kInterRate);
}

TEST(PingPong, IsAlphaAndItsBytesOverTheRateOfTheLinkBetweenFirstAndLast) {
  const auto ping_pong = [](const HostModel& model, double size) {
    return seconds_of(OperationId::ping_pong, "ping_pong", model, size);
  };
  for (const double size : {8.0, 1e3, 1e6}) {
    EXPECT_SECONDS(ping_pong(model_of(in_node_order(1, 2)), size), kAlphaIntra + size / kIntraRate);
    EXPECT_SECONDS(ping_pong(model_of(in_node_order(1, 5)), size), kAlphaIntra + size / kIntraRate);
    EXPECT_SECONDS(ping_pong(model_of(in_node_order(2, 4)), size), kAlphaInter + size / kInterRate);
  }
}

}  // namespace

}  // namespace collbench::analysis::point_to_point_test
