#include <gmock/gmock.h>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/report.hpp"

namespace collbench::analysis::diff_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DiffPage, HasARowForEachFindingWithItsReasonAndCost) {
  DiffReport diff;
  ComparedHosts pair;
  pair.a = {"hgx-h100"};
  pair.b = {"<i>node7</i>"};
  PricedFinding found;
  found.finding.code = "nic-port-slower";
  found.finding.device = "NIC7";
  found.finding.what = "200 Gb/s instead of 400";
  found.host = "<i>node7</i>";
  found.price.advice = "leave it out";
  pair.findings = {found};
  diff.pairs = {pair};
  const std::string page = report(diff, "html");
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\" class=\"warning\">degraded</th><td>nic-port-slower</td>"));
  EXPECT_THAT(
      page,
      HasSubstr("<td class=\"prose\">NIC7: 200 Gb/s instead of 400. The port came up at a lower rate.</td>"));
  EXPECT_THAT(page, HasSubstr("&lt;i&gt;node7&lt;/i&gt;"));
  EXPECT_THAT(page, HasSubstr("leave it out"));
  EXPECT_THAT(page, Not(HasSubstr("<i>")));
}

TEST(DiffPage, WithoutAFindingSaysSo) {
  DiffReport diff;
  diff.pairs = {{.a = {"x"}, .b = {"y"}, .findings = {}, .versions = {}}};
  EXPECT_THAT(report(diff, "html"), HasSubstr("<li>y against x: no difference</li>"));
}

}  // namespace
}  // namespace collbench::analysis::diff_page_test
