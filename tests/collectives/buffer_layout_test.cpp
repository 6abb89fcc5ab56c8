#include "collectives/buffer_layout.hpp"

#include <gtest/gtest.h>

namespace collbench::collectives::buffer_layout_test {
namespace {

RowKey row(OperationId operation, bool in_place) {
  return {.operation = operation,
          .size_bytes = 0,  // follows from the count
          .count = 128,
          .type = DataType::float64,
          .reduction = std::nullopt,
          .in_place = in_place,
          .root = 1};
}

/// Rank `rank` of four; rank 1 is the root.
CallContext of_rank(int rank) { return {.rank = rank, .ranks = 4, .root = 1}; }

constexpr std::uint64_t kBlock = 1024;  // bytes of 128 doubles

TEST(RowLayout, CallComesFromTheRow) {
  const TrafficMatrix traffic = traffic_by_distance(4);
  const CallContext call = call_context(row(OperationId::gather, false), 2, 4, traffic, {});
  EXPECT_EQ(call.rank, 2);
  EXPECT_EQ(call.ranks, 4);
  EXPECT_EQ(call.root, 1);
  EXPECT_EQ(call.traffic, &traffic);
  EXPECT_EQ(call.pack, 2U) << "doubles";
  EXPECT_EQ(call_context(row(OperationId::gather, false), 2, 4, traffic, {.exact_counts = true}).pack, 1U);
}

TEST(RowLayout, BuffersThatBeginLateHoldTheSameData) {
  for (const OperationId id : measurable_operations()) {
    if (id == OperationId::all_to_all_v) continue;  // the same function
    for (const bool in_place : {false, true}) {
      for (const int rank : {0, 1, 3}) {
        SCOPED_TRACE(testing::Message() << operation(id).name << (in_place ? " in place" : "") << rank);
        CallContext call = of_rank(rank);
        const RowLayout aligned = row_layout(row(id, in_place), call);
        call.unaligned_elements = 3;
        const RowLayout late = row_layout(row(id, in_place), call);
        constexpr std::uint64_t kLate = 24;
        for (const auto range : {&BufferLayout::input, &BufferLayout::output, &BufferLayout::result}) {
          const BufferRange& was = aligned.buffers.*range;
          const BufferRange& is = late.buffers.*range;
          EXPECT_EQ(is.offset, was.offset + kLate);
          EXPECT_EQ(is.length, was.length);
          EXPECT_EQ(is.of_receive_buffer, was.of_receive_buffer);
          EXPECT_LE(is.offset + is.length, is.of_receive_buffer ? late.bytes.receive : late.bytes.send);
        }
        EXPECT_EQ(late.bytes.send, in_place ? 0 : aligned.bytes.send + kLate);
        EXPECT_EQ(late.bytes.receive, aligned.bytes.receive + kLate);
      }
    }
  }
}

TEST(RowLayout, OutOfPlaceHasTwoBuffers) {
  const BufferBytes bytes = row_layout(row(OperationId::all_gather, false), of_rank(0)).bytes;
  EXPECT_EQ(bytes.send, kBlock);
  EXPECT_EQ(bytes.receive, 4 * kBlock);
}

TEST(RowLayout, OnlyTheRootHoldsAllOfAGather) {
  EXPECT_EQ(row_layout(row(OperationId::gather, false), of_rank(1)).bytes.receive, 4 * kBlock);
  EXPECT_EQ(row_layout(row(OperationId::gather, false), of_rank(2)).bytes.receive, 0U);
}

TEST(RowLayout, InPlaceHasOneBufferThatHoldsTheLarger) {
  for (const OperationId id : {OperationId::all_gather, OperationId::reduce_scatter}) {
    const BufferBytes bytes = row_layout(row(id, true), of_rank(0)).bytes;
    EXPECT_EQ(bytes.send, 0U);
    EXPECT_EQ(bytes.receive, 4 * kBlock);
  }
}

TEST(RowLayout, OutOfPlaceReadsOneBufferAndWritesTheOther) {
  const BufferLayout buffers = row_layout(row(OperationId::scatter, false), of_rank(1)).buffers;
  EXPECT_FALSE(buffers.input.of_receive_buffer);
  EXPECT_EQ(buffers.input.length, 4 * kBlock);
  EXPECT_TRUE(buffers.result.of_receive_buffer);
  EXPECT_EQ(buffers.result.offset, 0U);
  EXPECT_EQ(buffers.result.length, kBlock);
}

TEST(RowLayout, InPlaceTheSmallerBufferIsTheRanksOwnBlock) {
  struct Case {
    OperationId operation;
    int rank;
    std::uint64_t input;
    std::uint64_t result;
  };
  using enum OperationId;
  for (const Case& each :
       {Case{all_reduce, 2, 0, 0}, Case{all_gather, 2, 2 * kBlock, 0}, Case{reduce_scatter, 2, 0, 2 * kBlock},
        Case{gather, 1, kBlock, 0}, Case{gather, 2, 0, 0},  // it has only its own block
        Case{scatter, 1, 0, kBlock}, Case{scatter, 2, 0, 0}, Case{broadcast, 2, 0, 0},
        Case{reduce, 1, 0, 0}}) {
    SCOPED_TRACE(operation(each.operation).name);
    const BufferLayout buffers = row_layout(row(each.operation, true), of_rank(each.rank)).buffers;
    EXPECT_TRUE(buffers.input.of_receive_buffer);
    EXPECT_TRUE(buffers.result.of_receive_buffer);
    EXPECT_EQ(buffers.input.offset, each.input);
    EXPECT_EQ(buffers.result.offset, each.result);
  }
}

}  // namespace
}  // namespace collbench::collectives::buffer_layout_test
