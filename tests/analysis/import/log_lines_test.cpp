#include "analysis/import/log_readers.hpp"

#include <gtest/gtest.h>

namespace collbench::analysis::log_lines_test {
namespace {

LogLine only(std::string_view text) { return log_lines(text).at(0); }

TEST(LogLines, NcclsOwnLinesAreTakenApart) {
  const LogLine line = only("node7:12:34 [3] NCCL INFO Using network IB\n");
  EXPECT_EQ(line.text, "");
  EXPECT_EQ(line.nccl, "Using network IB");
  EXPECT_EQ(line.nccl_host, "node7");
}

TEST(LogLines, ALineInTheMiddleOfARowLeavesTheRow) {
  const LogLine start = only("  8  2  float  sum  -1node7:12:34 [0] NCCL INFO AllReduce: opCount 0\n");
  EXPECT_EQ(start.text, "  8  2  float  sum  -1");
  EXPECT_EQ(start.nccl_host, "node7");
  const LogLine rest = only("  83.33  100.66  100.66      0node7:12:34 [0] NCCL INFO AllReduce: opCount 0\n");
  EXPECT_EQ(rest.text, "  83.33  100.66  100.66      0");
}

TEST(LogLines, AHostThatBeginsWithADigitIsNoNumber) {
  EXPECT_EQ(only("4node:12:34 [0] NCCL INFO x\n").nccl_host, "4node");
}

TEST(LogLines, TagsOfMpirunGoFromAnywhere) {
  EXPECT_EQ(only("[1,0]<stdout>:  8 2 float sum -1[1,0]<stdout>: 20.00\n").text, "  8 2 float sum -1 20.00");
  EXPECT_EQ(only("[a]<stdout>: x\n").text, "[a]<stdout>: x");
}

TEST(LogLines, NumbersKnowTheirDigits) {
  EXPECT_EQ(leading_log_number("12.50node")->decimals, 2);
  EXPECT_EQ(leading_log_number("12.50node")->length, 5U);
  EXPECT_EQ(leading_log_number("2e-07")->value, 2e-07);
  EXPECT_FALSE(leading_log_number("N/A"));
  EXPECT_FALSE(leading_log_number("inf"));
}

}  // namespace
}  // namespace collbench::analysis::log_lines_test
