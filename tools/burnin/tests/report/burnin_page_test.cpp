#include <gmock/gmock.h>

#include "tools/burnin/report/burnin_report.hpp"
#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis::burnin_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(BurninPage, HasFindingsTheMapAndWhatIsMissing) {
  BurninRecord record =
      made_burnin(6, 2, [](int from, int, int rail) { return from == 4 && rail == 1 ? 2.0 : 1; });
  lose_rail(record, 2, 0);
  record.left_out = 3;
  record.planned = 30;
  record.rises.push_back({"pairs", "n1", "mlx5_0/1 link_downed", 1, 2, 30});
  record.groups.push_back({{BurninPhase::rails, {0, 1, 2, 3, 4, 5}, 1, true}, "all_reduce", 1e9, 9e8});
  const std::string page = burnin_html(record);
  for (const char* const words :
       {"6 nodes: 3 good, ", "NIC, transmit", "data:image/svg+xml", "swap the cable",
        "no &lt;active&gt; port", "3 of 30 pairs and rails were left out", "link_downed: 1 to 2",
        "all_reduce", "default-src", "<th scope=\"col\">next step</th>"}) {
    EXPECT_THAT(page, HasSubstr(words));
  }
  EXPECT_THAT(page, Not(HasSubstr("<active>")));
}

TEST(BurninPage, OfAHealthyFleetAllAreGood) {
  const std::string page = burnin_html(made_burnin(6, 1, [](int, int, int) { return 1.0; }));
  EXPECT_THAT(page, HasSubstr("6 nodes: 6 good"));
  EXPECT_THAT(page, Not(HasSubstr("<section id=\"hosts\"")));
  EXPECT_THAT(page, Not(HasSubstr("<section id=\"findings\"")));
}

}  // namespace
}  // namespace collbench::analysis::burnin_page_test
