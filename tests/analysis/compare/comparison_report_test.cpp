#include "analysis/compare/comparison_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/document/chart.hpp"
#include "base/document/text_layout.hpp"
#include "tests/analysis/compare/compared_runs.hpp"
#include "tests/analysis/example_run.hpp"
#include "tests/analysis/hostile_texts.hpp"

namespace collbench::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Comparison example() {
  Run base =
      run_of_rows({{8, {1e-6, 1.01e-6, 0.99e-6}}, {1024, {2e-6, 2.4e-6, 2e-6}}, {4096, {3e-6, 3e-6, 3e-6}}});
  Run current = run_of_rows(
      {{8, {2e-6, 2.02e-6, 1.98e-6}}, {1024, {2e-6, 2.4e-6, 2.1e-6}}, {4096, {3e-6, 3e-6, 3e-6}}});
  base.versions.nccl = "2.28.9";
  current.versions.nccl = "2.30.7\x1b[31m|";
  Comparison found = compare({base}, {current}, {.launch_allowance = 0.1});
  found.base_name = "base.json";
  found.current_name = "new.json";
  return found;
}

TEST(ComparisonReport, TextFitsItsPageAndSaysWhatWouldDecideTheRest) {
  Comparison long_name = example();
  long_name.rows[2].key.algorithm = "a_name_of_an_algorithm_that_no_page_of_eighty_columns_has_room_for";
  for (const int columns : {80, 100, 120}) {
    const std::string text = report(long_name, "text", {.columns = columns});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), columns) << line;
    EXPECT_THAT(text, HasSubstr("AllReduce 8 B float sum"));
    EXPECT_THAT(text, HasSubstr("SLOWER"));
    EXPECT_THAT(text, HasSubstr("1 SLOWER, 1 UNCLEAR, 1 SAME"));
    EXPECT_THAT(text, HasSubstr("1 row UNCLEAR: by the spread of these launches"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

TEST(ComparisonReport, AnIntervalThatAllowsAnythingIsNotPrinted) {
  Comparison found = example();
  found.rows[1].ratio_low = 1e-4;
  found.rows[1].ratio_high = 155921822.777;
  const std::string text = report(found, "text", {.columns = 120});
  EXPECT_THAT(text, HasSubstr("too wide"));
  EXPECT_THAT(text, Not(HasSubstr("155921822")));
  EXPECT_THAT(report(example(), "text", {.columns = 120}), Not(HasSubstr("too wide")));
}

TEST(ComparisonReport, MarkdownCountsWhatIsTheSame) {
  const std::string text = report(example(), "md");
  EXPECT_THAT(text, HasSubstr("1 SLOWER, 1 UNCLEAR, 1 SAME"));
  EXPECT_THAT(text, Not(HasSubstr("4 KiB")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("\\|"));
}

TEST(ComparisonReport, CsvHasALineForEachRowAndNoFormula) {
  Comparison found = example();
  found.current_name = "=cmd";
  found.rows[0].notes = {"a, b", "c"};
  std::istringstream lines(report(found, "csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with("base,new,row,operation,size_bytes,change,base_seconds,")) << line;
  const auto columns = std::count(line.begin(), line.end(), ',');
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with("base.json,'=cmd,")) << line;
  EXPECT_THAT(line, HasSubstr(",8,SLOWER,"));
  EXPECT_THAT(line, HasSubstr("\"a, b; c\""));
  int rows = 1;
  for (; std::getline(lines, line); ++rows)
    EXPECT_GE(std::count(line.begin(), line.end(), ','), columns) << line;
  EXPECT_EQ(rows, 3);
}

TEST(ComparisonReport, JsonHoldsEverything) {
  const auto json = nlohmann::json::parse(report(example(), "json"));
  EXPECT_EQ(json["rows"].size(), 3U);
  EXPECT_EQ(json["rows"][0]["change"], "SLOWER");
  EXPECT_EQ(json["rows"][0]["operation"], "all_reduce");
  EXPECT_NEAR(json["rows"][0]["ratio"].get<double>(), 2, 1e-9);
  EXPECT_EQ(json["rows"][0]["new_launches"], 3);
  EXPECT_EQ(json["rows"][0]["within_sittings"], false);
  EXPECT_EQ(json["same_record"], false);
}

TEST(ComparisonReport, PromisesSameOnlyWhereARowCanBeIt) {
  const auto text_at = [](double drift) {
    const collbench::Run run = run_of_rows({{8, {1.0, 1.002, 0.998}}});
    return report_text(compare({run}, {run}, {.unknown_state_allowance = drift}), {.columns = 1000});
  };
  EXPECT_THAT(text_at(0), HasSubstr("SAME: the 95 % interval of new/base is within ±5 %\n"));
  EXPECT_THAT(text_at(0.03), HasSubstr("is within ±5 %, whatever the sittings differ by\n"));
  for (const double drift : {0.05, 0.3}) {
    EXPECT_THAT(text_at(drift),
                HasSubstr("no row can be SAME, for two sittings may differ by more than the 5 %"));
    EXPECT_THAT(text_at(drift), Not(HasSubstr("SAME: the 95 %")));
  }
  // A program that reads launches_to_decide of 0 can tell "none would" from "not known".
  const collbench::Run run = run_of_rows({{8, {1.0, 1.002, 0.998}}});
  const auto json =
      nlohmann::json::parse(report_json(compare({run}, {run}, {.unknown_state_allowance = 0.3})));
  EXPECT_EQ(json["rows"][0]["within_sittings"], true);
  EXPECT_EQ(json["rows"][0]["launches_to_decide"], 0);
}

TEST(ComparisonReport, OfARecordWithItselfIsOneLineAndNoTest) {
  const collbench::Run run = run_of_rows({{8, {1.0, 1.002, 0.998}}, {16, {1.0}}});
  Comparison found = compare({run}, {run}, {.launch_allowance = 2, .unknown_state_allowance = 2});
  EXPECT_EQ(found.count(RowChange::unclear), 2U);
  compare_with_itself(found);
  EXPECT_EQ(found.count(RowChange::same), 2U);
  const std::string text = report_text(found, {.columns = 1000});
  EXPECT_THAT(text, HasSubstr("# both are the same record: every row is compared with itself"));
  EXPECT_THAT(text, Not(HasSubstr("UNCLEAR")));
  EXPECT_THAT(text, Not(HasSubstr("Student")));
  EXPECT_THAT(text, Not(HasSubstr("--allowance")));
  EXPECT_FALSE(found.rows[0].p);
}

TEST(ComparisonReport, NoFreeTextOfEitherRunReachesAnyFormatRaw) {
  const auto locations = free_texts_of(example_run());
  for (const std::string& hostile : kHostileTexts) {
    const auto base = with_hostile_texts(example_run(), locations, hostile);
    // Twice, so that all of it differs.
    auto current = with_hostile_texts(example_run(), locations, hostile + hostile);
    for (std::size_t i = 0; i < current.rows.size(); ++i) {
      current.rows[i].measurement.key = base.rows[i].measurement.key;
      current.rows[i].measurement.seconds *= 3;
      current.rows[i].measurement.pass_seconds = {current.rows[i].measurement.seconds};
      current.rows[i].measurement.launch_passes = {1};
    }
    Comparison found = compare({base}, {current}, {.launch_allowance = 0.1});
    EXPECT_GT(found.differences.size(), 3U);
    found.base_name = found.current_name = hostile;
    for (const std::string& format : comparison_formats()) {
      expect_harmless(report(found, format), format, hostile);
      expect_harmless(report_no_comparison(hostile, hostile, format), format, hostile);
    }
    for (const Chart& chart : comparison_charts(found)) expect_harmless(svg_chart(chart), "svg", hostile);
  }
}

}  // namespace
}  // namespace collbench::analysis
