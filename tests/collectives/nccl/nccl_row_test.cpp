#include "collectives/nccl/nccl_row.hpp"

#include <gtest/gtest.h>

namespace collbench::collectives::nccl_row_test {
namespace {

TEST(BufferWalk, GoesAsFarAsTheWalkByAlignedStepsThatHoldARow) {
  EXPECT_EQ(buffer_walk(8, 4096).stride, 512U);
  EXPECT_EQ(buffer_walk(8, 4096).steps, 8U);
  EXPECT_EQ(buffer_walk(513, 4096).stride, 1024U);
  EXPECT_EQ(buffer_walk(513, 4096).steps, 4U);
  EXPECT_EQ(buffer_walk(3000, 4096).steps, 1U);
  for (const std::uint64_t row : {1U, 511U, 512U, 700U, 2048U})
    EXPECT_LE(buffer_walk(row, 4096).bytes(), 4096U) << row;
}

TEST(BufferWalk, StaysWhereARowIsLargerThanItOrNobodyWalks) {
  EXPECT_EQ(buffer_walk(5000, 4096).steps, 1U);
  EXPECT_EQ(buffer_walk(8, 0).steps, 1U);
  EXPECT_EQ(buffer_walk(0, 4096).steps, 1U);
}

TEST(RepeatsOnData, OnlySumsAndProductsOfFloatsDoNot) {
  for (const DataType type :
       {DataType::float8_e4m3, DataType::bfloat16, DataType::float32, DataType::float64}) {
    for (const Reduction reduction : {Reduction::sum, Reduction::prod})
      EXPECT_FALSE(repeats_on_data(type, reduction));
    for (const Reduction reduction : {Reduction::min, Reduction::max, Reduction::avg}) {
      EXPECT_TRUE(repeats_on_data(type, reduction));
    }
  }
  for (const Reduction reduction : reductions()) {
    EXPECT_TRUE(repeats_on_data(DataType::int8, reduction));
    EXPECT_TRUE(repeats_on_data(DataType::uint64, reduction));
  }
}

}  // namespace
}  // namespace collbench::collectives::nccl_row_test
