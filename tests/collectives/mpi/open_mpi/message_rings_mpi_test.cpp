// Counts the messages by standing before the library's MPI_Sendrecv, as a tool does.
#include "collectives/mpi/open_mpi/message_rings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <set>

#include "base/clock.hpp"
#include "collectives/mpi/mpi_backend.hpp"

namespace collbench::collectives::message_rings_test {
namespace {

int exchanges = 0;  // by MPI_Sendrecv of this rank

/// Where the next message begins in a ring of 128 cells, the first of which is not used.
int position_after(int position, int bytes) {
  const int cells = (bytes + 24 + 31) / 32;
  const int end = position + cells;
  if (end == 128) return 1;
  return end < 128 ? end : 1 + cells;
}

class WallClock : public Clock {
 public:
  [[nodiscard]] double seconds() const override { return MPI_Wtime(); }
};

int peers_of_this_rank() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int peers = 0;
  for (int distance = 1; distance < ranks; distance *= 2) peers += (rank ^ distance) < ranks ? 1 : 0;
  return peers;
}

TEST(MessageRings, WhereverTheyStoodTheyComeToOnePosition) {
  const std::vector<int> messages = ring_alignment_messages();
  EXPECT_THAT(messages, ::testing::Each(::testing::Le(256)));  // longer ones do not lie in the ring
  std::set<int> ends;
  for (int position = 1; position < 128; ++position) {
    int at = position;
    for (const int bytes : messages) at = position_after(at, bytes);
    ends.insert(at);
  }
  EXPECT_EQ(ends.size(), 1U);
}

TEST(MessageRings, EveryPairIsAlignedOnAnyNumberOfRanks) {
  exchanges = 0;
  align_message_rings(MPI_COMM_WORLD);
  EXPECT_EQ(exchanges, peers_of_this_rank() * static_cast<int>(ring_alignment_messages().size()));
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(MessageRings, LongBlocksAreWorthIt) {
  EXPECT_FALSE(is_worth_aligning(1'000'000, 1));
  EXPECT_FALSE(is_worth_aligning(3'059, 2));
  EXPECT_TRUE(is_worth_aligning(3'060, 2));
  EXPECT_FALSE(is_worth_aligning(6'119, 3));
  EXPECT_TRUE(is_worth_aligning(6'120, 4));
}

TEST(MessageRings, ABlockOfManyCallsBeginsWithThem) {
  const WallClock clock;
  launch::CallCounter calls;
  launch::CallCounter waits;
  MpiBackend backend(clock, {}, {calls, waits}, {});
  const RowKey key{.operation = OperationId::all_reduce,
                   .size_bytes = 8,
                   .count = 2,
                   .type = DataType::float32,
                   .reduction = Reduction::sum};
  const RowLayout layout = backend.layout(key);
  backend.allocate(layout.bytes);
  const auto row = backend.prepare(key, layout);
  row->fill_to_repeat();
  exchanges = 0;
  row->run(7'000);
  static_cast<void>(row->time(1'000, 1'000, {}));
  EXPECT_EQ(exchanges, 0);
  static_cast<void>(row->time(7'000, 7'000, {}));
  EXPECT_EQ(exchanges, peers_of_this_rank() * static_cast<int>(ring_alignment_messages().size()));
}

}  // namespace
}  // namespace collbench::collectives::message_rings_test

extern "C" int MPI_Sendrecv(const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag,
                            void* receive, int count, MPI_Datatype type, int from, int tag,
                            MPI_Comm communicator, MPI_Status* status) {
  ++collbench::collectives::message_rings_test::exchanges;
  return PMPI_Sendrecv(send, send_count, send_type, to, send_tag, receive, count, type, from, tag,
                       communicator, status);
}
