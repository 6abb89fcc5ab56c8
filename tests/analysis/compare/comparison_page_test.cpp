#include <gmock/gmock.h>

#include "analysis/compare/comparison_report.hpp"

namespace collbench::analysis::comparison_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ComparisonPage, HoldsBothSidesTheirRowsAndWhatElseDiffers) {
  Comparison comparison;
  comparison.base_name = "<b>last.json</b>";
  comparison.current_name = "today.json";
  comparison.ranks = 4;
  comparison.differences = {"NCCL: 2.21.5 and 2.32.3"};
  ComparedRow row;
  row.key = {.operation = OperationId::all_reduce, .size_bytes = 1024, .reduction = Reduction::sum};
  row.change = RowChange::slower;
  row.base = {1e-3, 1};
  row.current = {2e-3, 1};
  row.ratio = 2;
  comparison.rows = {row};
  const std::string page = report(comparison, "html");
  EXPECT_THAT(page, HasSubstr("<h1>today.json against &lt;b&gt;last.json&lt;/b&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("<li>1 SLOWER (1 row, 4 ranks): today.json against "));
  EXPECT_THAT(page, HasSubstr("id=\"busbw-all_reduce\""));
  EXPECT_THAT(page, HasSubstr("<td class=\"alarm\">SLOWER</td><td>2.000</td>"));
  EXPECT_THAT(page, HasSubstr("NCCL: 2.21.5 and 2.32.3"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace collbench::analysis::comparison_page_test
