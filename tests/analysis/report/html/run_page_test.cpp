#include <gmock/gmock.h>

#include "analysis/report/report.hpp"
#include "tests/analysis/example_run.hpp"
#include "topology/cluster/cluster_topology.hpp"
#include "topology/machines/reference_machines.hpp"

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

TEST(RunPage, TheVerdictStandsAboveAllElse) {
  auto run = example_run();
  run.rows.front().measurement.wrong_elements = 3;
  EXPECT_THAT(report_html(run),
              HasSubstr("</h1>\n<ul class=\"facts\">\n<li class=\"alarm\">WRONG DATA in 1 row"));
}

TEST(RunPage, ItsOutcomeBeginsWithWhatIsLoud) {
  auto run = example_run();
  run.load_notes = {"another program took 20 % of n0"};
  const std::string page = report_html(run);
  EXPECT_THAT(page, HasSubstr("Outcome</h2>\n<ul class=\"facts\">\n<li class=\"warning\">"));
  EXPECT_THAT(page, HasSubstr("<li class=\"warning\">warning: another program took 20 % of n0</li>"));
}

TEST(RunPage, MarksWhatIsOddInTheDrawingOfTheOddNode) {
  const topology::Host usual = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  topology::Host odd = usual;
  odd.gpus[3].nvlinks_active.value = 9;
  auto run = example_run();
  run.cluster = topology::cluster_record({{usual, odd}, {{"n0", 0, {}}, {"n1", 0, {}}, {"n2", 1, {}}}});
  const std::string page = report_html(run);
  if (page.find("not drawn: Graphviz") != std::string::npos) GTEST_SKIP() << "no Graphviz";
  const std::size_t drawn = page.find("Drawing of n0: ");
  ASSERT_NE(drawn, std::string::npos);
  EXPECT_THAT(page.substr(drawn), HasSubstr(", 0 findings marked"));
  const std::size_t marked = page.find("Drawing of n2: ");
  ASSERT_NE(marked, std::string::npos);
  EXPECT_THAT(page.substr(marked), HasSubstr(", 1 finding marked"));
}

TEST(RunPage, OfARunWithoutRowsThereIsAPageAsWell) {
  EXPECT_THAT(report_html(collbench::Run{}), Not(HasSubstr("<figure")));
}

}  // namespace
}  // namespace collbench::analysis::run_page_test
