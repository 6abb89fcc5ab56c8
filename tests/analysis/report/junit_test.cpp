#include <gmock/gmock.h>

#include <pugixml.hpp>

#include "analysis/report/report.hpp"
#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::junit_test {
namespace {

using testing::HasSubstr;

pugi::xml_document parsed(const Run& run, const Criteria& criteria = {}) {
  pugi::xml_document document;
  const std::string text = report_junit(run, {.criteria = criteria});
  EXPECT_TRUE(document.load_string(text.c_str())) << text;
  return document;
}

pugi::xml_node suite_of(const pugi::xml_document& document) {
  return document.child("testsuites").child("testsuite");
}

TEST(ReportJunit, HasACasePerRowAndOneForTheRun) {
  const auto document = parsed(example_run());
  const auto suite = suite_of(document);
  EXPECT_EQ(suite.attribute("tests").as_int(), 6);
  EXPECT_EQ(suite.attribute("failures").as_int(), 0);
  EXPECT_EQ(suite.attribute("skipped").as_int(), 1) << "the row that is not available";
  EXPECT_EQ(std::string(suite.attribute("timestamp").value()), "2026-10-01T12:00:00");
  const auto row = suite.find_child_by_attribute("name", "AllReduce 64 MiB float sum, in place");
  EXPECT_EQ(std::string(row.attribute("classname").value()), "collbench.AllReduce");
  EXPECT_DOUBLE_EQ(row.attribute("time").as_double(), 0.1);
}

TEST(ReportJunit, SimulatedGpusAreAProperty) {
  auto run = example_run();
  EXPECT_THAT(report_junit(run, {}), testing::Not(HasSubstr("SIMULATED")));
  run.gpus_simulated = true;
  EXPECT_THAT(report_junit(run, {}), HasSubstr("name=\"gpus_simulated\" value=\"SIMULATED GPUs: "));
}

TEST(ReportJunit, TheRowThatIsTooSlowFails) {
  const Criteria criteria{.min_busbw = {{OperationId::all_reduce, 64ULL << 20U, 2e9}}, .fail_on = {}};
  const auto document = parsed(example_run(), criteria);
  const auto suite = suite_of(document);
  EXPECT_EQ(suite.attribute("failures").as_int(), 1);
  const auto row = suite.find_child_by_attribute("name", "AllReduce 64 MiB float sum, in place");
  EXPECT_THAT(row.child("failure").attribute("message").value(), HasSubstr("49.7 % below the minimum"));
}

TEST(ReportJunit, LowWrongDataAndWhatNothingWasMeasuredForFail) {
  auto run = example_run();
  run.rows[0].measurement.wrong_elements = 3;
  run.rows[1].verdict = {VerdictWord::fault, "Broken."};
  const Criteria criteria{.min_busbw = {{OperationId::broadcast, {}, 1}}, .fail_on = {FailureKind::below}};
  const auto document = parsed(run, criteria);
  const auto suite = suite_of(document);
  EXPECT_EQ(suite.attribute("failures").as_int(), 4) << "a row, a series, the machine and the whole run";
  EXPECT_TRUE(suite.find_child_by_attribute("classname", "collbench.run").child("failure"));
  EXPECT_TRUE(suite.find_child_by_attribute("name", "the machine").child("failure"));
}

TEST(ReportJunit, AnUnclearSeriesIsSkippedUntilTheMachineIsToBeAccepted) {
  auto run = example_run();
  for (Row& row : run.rows) row.verdict = {VerdictWord::unclear, "Between."};
  const auto skipped = parsed(run);
  const auto machine = suite_of(skipped).find_child_by_attribute("name", "the machine");
  EXPECT_THAT(machine.child("skipped").attribute("message").value(), HasSubstr("UNCLEAR"));
  EXPECT_EQ(suite_of(skipped).attribute("failures").as_int(), 0);
  const auto accepted = parsed(run, {.min_busbw = {}, .fail_on = {}, .accept = true});
  EXPECT_TRUE(suite_of(accepted).find_child_by_attribute("name", "the machine").child("failure"));
  EXPECT_TRUE(suite_of(accepted).find_child_by_attribute("classname", "collbench.verdict").child("failure"));
  for (Row& row : run.rows) row.verdict = {};
  const auto nothing = parsed(run, {.min_busbw = {}, .fail_on = {}, .accept = true});
  EXPECT_TRUE(suite_of(nothing).find_child_by_attribute("name", "the machine").child("failure"));
  for (Row& row : run.rows) row.verdict = {VerdictWord::sound, "As quick."};
  const auto sound = parsed(run);
  EXPECT_FALSE(suite_of(sound).find_child_by_attribute("name", "the machine").first_child());
}

TEST(ReportJunit, ARunThatWasKilledAndSaysNoMoreFails) {
  auto run = example_run();
  run.complete = false;
  run.incident.reset();
  const auto document = parsed(run);
  EXPECT_EQ(suite_of(document).attribute("failures").as_int(), 1);
  const auto whole = suite_of(document).find_child_by_attribute("classname", "collbench.run");
  EXPECT_THAT(whole.child("failure").attribute("message").value(), HasSubstr("was cut short"));
}

}  // namespace
}  // namespace collbench::analysis::junit_test
