#include <gtest/gtest.h>

#include "tests/analysis/host_algorithm_fixture.hpp"

namespace collbench::host_send_recv_test {
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

}  // namespace
}  // namespace collbench::host_send_recv_test
