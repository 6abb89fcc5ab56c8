#include <gtest/gtest.h>

#include "tests/analysis/host_algorithm_fixture.hpp"

namespace collbench::host_ping_pong_test {
namespace {

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
}  // namespace collbench::host_ping_pong_test
