#include "analysis/compare/comparison_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/report/text_layout.hpp"
#include "tests/analysis/compare/compared_runs.hpp"

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
}

}  // namespace
}  // namespace collbench::analysis
