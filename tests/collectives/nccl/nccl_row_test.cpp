#include "collectives/nccl/nccl_row.hpp"

#include <gtest/gtest.h>

namespace collbench::collectives::nccl_row_test {
namespace {

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
