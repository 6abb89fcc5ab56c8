#include "collectives/nccl/nccl_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::collectives::p2p_schedule_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr bool kSends = true;
constexpr bool kReceives = false;

std::vector<P2pOp> transfers(OperationId operation, int rank, int root = 0) {
  RowKey key;
  key.operation = operation;
  key.count = 6;
  const TrafficMatrix traffic = traffic_by_distance(3);
  return p2p_schedule(key, {.rank = rank, .ranks = 3, .root = root, .traffic = &traffic});
}

TEST(GroupedExchange, AllToAllSendsEachItsBlock) {
  EXPECT_THAT(transfers(OperationId::all_to_all, 1),
              ElementsAre(P2pOp{kSends, 0, 0, 6}, P2pOp{kReceives, 0, 0, 6}, P2pOp{kSends, 1, 6, 6},
                          P2pOp{kReceives, 1, 6, 6}, P2pOp{kSends, 2, 12, 6}, P2pOp{kReceives, 2, 12, 6}));
}

TEST(GroupedExchange, AllToAllvLeavesOutWhatIsNothing) {
  // By distance among 3, 6 elements of the fullest rank: 2 to the next, 4 to the one after it.
  EXPECT_THAT(transfers(OperationId::all_to_all_v, 0),
              ElementsAre(P2pOp{kSends, 1, 0, 2}, P2pOp{kReceives, 1, 0, 4}, P2pOp{kSends, 2, 2, 4},
                          P2pOp{kReceives, 2, 4, 2}));
}

TEST(GroupedExchange, SendRecvIsAShift) {
  EXPECT_THAT(transfers(OperationId::send_recv, 2),
              ElementsAre(P2pOp{kSends, 0, 0, 6}, P2pOp{kReceives, 1, 0, 6}));
}

TEST(GroupedExchange, PingPongAnswersAfterItHasHeard) {
  EXPECT_THAT(transfers(OperationId::ping_pong, 0),
              ElementsAre(P2pOp{kSends, 2, 0, 6}, P2pOp{kReceives, 2, 0, 6}));
  EXPECT_THAT(transfers(OperationId::ping_pong, 1), IsEmpty());
  EXPECT_THAT(transfers(OperationId::ping_pong, 2),
              ElementsAre(P2pOp{kReceives, 0, 0, 6}, P2pOp{kSends, 0, 0, 6}));
}

TEST(GroupedExchange, GatherAndScatterMeetAtTheRoot) {
  EXPECT_THAT(transfers(OperationId::gather, 0, 1), ElementsAre(P2pOp{kSends, 1, 0, 6}));
  EXPECT_THAT(transfers(OperationId::gather, 1, 1),
              ElementsAre(P2pOp{kSends, 1, 0, 6}, P2pOp{kReceives, 0, 0, 6}, P2pOp{kReceives, 1, 6, 6},
                          P2pOp{kReceives, 2, 12, 6}));
  EXPECT_THAT(transfers(OperationId::scatter, 2, 1), ElementsAre(P2pOp{kReceives, 1, 0, 6}));
  EXPECT_THAT(transfers(OperationId::scatter, 1, 1),
              ElementsAre(P2pOp{kSends, 0, 0, 6}, P2pOp{kSends, 1, 6, 6}, P2pOp{kSends, 2, 12, 6},
                          P2pOp{kReceives, 1, 0, 6}));
}

}  // namespace
}  // namespace collbench::collectives::p2p_schedule_test
