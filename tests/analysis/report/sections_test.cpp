#include "analysis/report/sections.hpp"

#include <gtest/gtest.h>

namespace collbench::analysis::sections_test {
namespace {

RowKey all_reduce() {
  RowKey key;
  key.operation = OperationId::all_reduce;
  key.size_bytes = 65536;
  key.reduction = Reduction::sum;
  return key;
}

TEST(RowWords, NameWhatTellsARowFromOthers) {
  RowKey key = all_reduce();
  EXPECT_EQ(format_row(key), "AllReduce 64 KiB float sum, out of place");
  key.in_place = true;
  key.algorithm = "ring";
  EXPECT_EQ(format_row(key), "AllReduce 64 KiB float sum, in place, ring");
}

TEST(RowWords, ASpanOfOneIsOne) {
  EXPECT_EQ(format_span("8 B", "4 KiB"), "8 B to 4 KiB");
  EXPECT_EQ(format_span("8 B", "8 B"), "8 B");
}

TEST(RowWords, SizesAreCountedWhereThereAreSeveral) {
  EXPECT_EQ(format_sizes({1024}), "1 KiB");
  EXPECT_EQ(format_sizes({65536, 8, 1024}), "3 sizes from 8 B to 64 KiB");
}

TEST(RowWords, LeaveOutWhatTheOperationDoesNotHave) {
  RowKey key = all_reduce();
  key.operation = OperationId::ping_pong;
  key.reduction.reset();
  EXPECT_EQ(format_row(key), "PingPong 64 KiB float");
}

}  // namespace
}  // namespace collbench::analysis::sections_test
