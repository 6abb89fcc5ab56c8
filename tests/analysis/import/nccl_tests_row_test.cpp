#include "analysis/import/nccl_tests_row.hpp"

#include <gtest/gtest.h>

namespace collbench::analysis::nccl_tests_row_test {
namespace {

RowOrReason row(std::string_view line, const NcclTestsColumns& columns = {}) {
  const auto start = row_start(line, 7);
  return start ? read_row(*start, columns) : RowOrReason{std::nullopt, "no row"};
}

TEST(NcclTestsRow, TimesWithoutAPointAreNumbers) {
  const auto read = row("  1000000000 250000000 float sum -1 12646 79.08 118.61 0 100000 10.00 15.00 3");
  ASSERT_TRUE(read.row) << read.reason;
  EXPECT_DOUBLE_EQ(read.row->out_of_place.seconds, 0.012646);
  EXPECT_EQ(read.row->in_place->wrong_elements, 3U);
  EXPECT_EQ(read.row->root, -1);
  EXPECT_EQ(read.row->line, 7);
}

TEST(NcclTestsRow, AnEmptyReductionAndHalfARow) {
  NcclTestsColumns old;
  old.root = false;
  old.wrong_is_error = true;
  const auto read = row("  1000000000 31250000 float      10000 100.00 87.50 N/A", old);
  ASSERT_TRUE(read.row) << read.reason;
  EXPECT_FALSE(read.row->reduction);
  EXPECT_FALSE(read.row->in_place);
  EXPECT_FALSE(read.row->out_of_place.checked);
}

TEST(NcclTestsRow, MarkdownBarsAndStuckPrefixes) {
  EXPECT_TRUE(row("| 1000000000 | 250000000 | float | sum | -1 | 10000 | 100.00 | 150.00 | 0 | 10000 | "
                  "100.00 | 150.00 | 0 |")
                  .row);
  EXPECT_TRUE(row("0:1000000000 250000000 float sum -1 10000 100.00 150.00 0 10000 100.00 150.00 0").row);
}

TEST(NcclTestsRow, MaskedRatesTakeNothingFromTheTime) {
  const auto read = row("1000000000 250000000 float sum -1 10000 XX.XX XXX.XX 0 10000 XX.XX XXX.XX 0");
  EXPECT_TRUE(read.row) << read.reason;
}

TEST(NcclTestsRow, NumbersThatDoNotAgreeAreNoRow) {
  EXPECT_EQ(row("1000000000 250000000 float sum -1 10000 50.00 150.00 0 10000 100.00 150.00 0").reason,
            "rows whose algbw is not size / time");
  EXPECT_EQ(row("0 0 float sum -1 1.0 0.00 0.00 0 1.0 0.00 0.00 0").reason, "rows of 0 bytes");
  EXPECT_EQ(row("8 2 float mulsum -1 1.0 0.01 0.01 0 1.0 0.01 0.01 0").reason, "rows of reduction mulsum");
}

TEST(NcclTestsRow, WordsAreNoRow) {
  EXPECT_FALSE(row_start("the float has 2 halves", 1));
  EXPECT_TRUE(row_continuation(" 0 : GPU/0-17000").empty());
  EXPECT_EQ(row_continuation(" 83.33 100.66 100.66 N/A").size(), 4U);
}

}  // namespace
}  // namespace collbench::analysis::nccl_tests_row_test
