#include "collectives/nccl/loader/nccl_library.hpp"

#include <gtest/gtest.h>

#include <set>

namespace collbench::collectives::nccl_library_test {
namespace {

TEST(NcclLibrary, EveryTypeAndReductionHasItsOwn) {
  std::set<NcclType> types;
  for (const DataTypeTraits& type : data_types()) types.insert(nccl_type(type.id));
  EXPECT_EQ(types.size(), data_types().size());
  std::set<NcclReduction> all;
  for (const Reduction reduction : reductions()) all.insert(nccl_reduction(reduction));
  EXPECT_EQ(all.size(), reductions().size());
  EXPECT_EQ(nccl_reduction(Reduction::min), NcclReduction::min);
  EXPECT_EQ(nccl_type(DataType::uint64), NcclType::uint64);
}

TEST(NcclLibrary, OnlyFloatAveragesMayBeOff) {
  EXPECT_EQ(tolerance_ulp(DataType::float16, Reduction::avg), 2U);
  EXPECT_EQ(tolerance_ulp(DataType::int32, Reduction::avg), 0U);
  EXPECT_EQ(tolerance_ulp(DataType::float32, Reduction::sum), 0U);
}

}  // namespace
}  // namespace collbench::collectives::nccl_library_test
