#include "collectives/row_layout.hpp"

#include <gtest/gtest.h>

namespace collbench {
namespace {

RowKey row(OperationId operation, bool in_place) {
  return {.operation = operation,
          .size_bytes = 4096,
          .count = 0,
          .type = DataType::float64,
          .reduction = std::nullopt,
          .in_place = in_place};
}

TEST(RowLayout, CountsAreOfElements) {
  EXPECT_EQ(layout_of(row(OperationId::all_reduce, false), 4).count, 512U);
  EXPECT_EQ(layout_of(row(OperationId::all_gather, false), 4).count, 128U);
}

TEST(RowLayout, OutOfPlaceHasTwoBuffers) {
  const BufferBytes bytes = buffer_bytes_of(row(OperationId::all_gather, false), 4);
  EXPECT_EQ(bytes.send, 1024U);
  EXPECT_EQ(bytes.receive, 4096U);
}

TEST(RowLayout, InPlaceHasOneBufferThatHoldsTheLarger) {
  for (const OperationId id : {OperationId::all_gather, OperationId::reduce_scatter}) {
    const BufferBytes bytes = buffer_bytes_of(row(id, true), 4);
    EXPECT_EQ(bytes.send, 0U);
    EXPECT_EQ(bytes.receive, 4096U);
  }
}

}  // namespace
}  // namespace collbench
