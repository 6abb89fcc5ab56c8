#include "analysis/report/run_charts.hpp"

#include <gtest/gtest.h>

namespace collbench::analysis {
namespace {

TEST(SeriesName, SaysAllButTheSize) {
  RowKey key{.operation = OperationId::all_reduce, .reduction = Reduction::sum};
  EXPECT_EQ(variant_name(key), "float sum, out of place");
  key.in_place = true;
  key.algorithm = "ring";
  EXPECT_EQ(series_name(key), "AllReduce float sum, in place, ring");
  key = {.operation = OperationId::broadcast, .reduction = {}, .root = 0};
  EXPECT_EQ(series_name(key), "Broadcast float, out of place, root 0");
}

}  // namespace
}  // namespace collbench::analysis
