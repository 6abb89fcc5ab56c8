#include <gmock/gmock.h>

#include "analysis/report/report.hpp"
#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::run_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RunPage, HoldsChartsTablesOutcomeAndEnvironment) {
  const std::string page = report_html(example_run());
  for (const char* const part :
       {"<h1>", "id=\"outcome\"", "id=\"send_recv\"", "id=\"busbw-send_recv\"", "id=\"time-send_recv\"",
        "<caption>SendRecv: size is what one rank sends; busbw = algbw × 1</caption>", "id=\"columns\"",
        "id=\"environment\""})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(RunPage, ItsOutcomeBeginsWithWhatIsLoud) {
  auto run = example_run();
  run.load_notes = {"another program took 20 % of n0"};
  const std::string page = report_html(run);
  EXPECT_THAT(page, HasSubstr("Outcome</h2>\n<ul class=\"facts\">\n<li class=\"warning\">"));
  EXPECT_THAT(page, HasSubstr("<li class=\"warning\">warning: another program took 20 % of n0</li>"));
}

TEST(RunPage, OfARunWithoutRowsThereIsAPageAsWell) {
  EXPECT_THAT(report_html(collbench::Run{}), Not(HasSubstr("<figure")));
}

}  // namespace
}  // namespace collbench::analysis::run_page_test
