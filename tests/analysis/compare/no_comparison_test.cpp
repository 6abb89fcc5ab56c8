#include <gmock/gmock.h>

#include <string>

#include "analysis/compare/comparison_report.hpp"

namespace collbench::analysis::no_comparison_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(NoComparison, IsADocumentOfEachFormat) {
  const std::string file = "a<b>=|.json";
  const std::string why = "no earlier record";
  EXPECT_THAT(report_no_comparison(file, why, "html"), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(report_no_comparison(file, why, "html"), HasSubstr("a&lt;b&gt;=|.json: no earlier record"));
  EXPECT_EQ(report_no_comparison(file, why, "csv"),
            "new,change,notes\na<b>=|.json,not compared,no earlier record\n");
  EXPECT_THAT(report_no_comparison(file, why, "json"), HasSubstr("\"comparison\": null"));
  EXPECT_EQ(report_no_comparison(file, why, "md"),
            "# Not compared\n\n**a\\<b\\>=\\|.json: no earlier record**\n");
  EXPECT_EQ(report_no_comparison("a\x1b[31m", why, "text"), "# a [31m: no earlier record\n");
}

}  // namespace
}  // namespace collbench::analysis::no_comparison_test
