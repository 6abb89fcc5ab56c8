#include "base/document/document.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/document/text_layout.hpp"
#include "tests/base/lines.hpp"

namespace collbench::terminal_chart_test {
namespace {

using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Le;
using testing::ResultOf;

Chart rising_chart() {
  return {.id = "c",
          .title = "AllReduce: bus bandwidth by size",
          .x = {"size", AxisUnit::bytes, true},
          .y = {"busbw (GB/s)", AxisUnit::gigabytes, false},
          .series = {{"measured", SeriesKind::measured, {{8, 0, {}, {}, ""}, {1024, 20, {}, {}, ""}}},
                     {"expected", SeriesKind::expected, {{8, 10, {}, {}, ""}, {1024, 10, {}, {}, ""}}}},
          .bands = {{"expected band", {{8, 0, 0}, {1024, 0, 0}}}}};
}

TEST(TerminalChart, PointsLieInTheirCorners) {
  const auto lines = lines_of(terminal_chart(rising_chart(), 80, ChartLetters::ascii));
  EXPECT_EQ(lines[0], "AllReduce: bus bandwidth by size");
  EXPECT_EQ(lines[1], "  * measured   - expected   . expected band");
  EXPECT_EQ(lines[2], "  busbw (GB/s)");
  EXPECT_EQ(lines[3], "        20|" + std::string(68, ' ') + "*");
  EXPECT_EQ(lines[16], "         0|*" + std::string(68, '.'));
  EXPECT_THAT(lines[17], HasSubstr("+---"));
  EXPECT_EQ(lines[18].find("8 B"), 11U);
  EXPECT_THAT(lines[18], EndsWith("512 B"));
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.ends_with("|" + std::string(69, '-')); }),
            1);
}

TEST(TerminalChart, KeepsToThePageAndToAscii) {
  for (const int columns : {40, 80, 300}) {
    for (const ChartLetters letters : {ChartLetters::ascii, ChartLetters::unicode}) {
      const std::string text = terminal_chart(rising_chart(), columns, letters);
      EXPECT_THAT(lines_of(text), Each(ResultOf(display_width, Le(std::min(columns, 110)))));
      const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) { return c > 0; });
      EXPECT_EQ(is_ascii, letters == ChartLetters::ascii);
    }
  }
}

TEST(TerminalChart, AReferenceLineCrossesThePage) {
  Chart chart = rising_chart();
  chart.series.pop_back();
  chart.bands.clear();
  chart.references = {{"no difference", 10}};
  const auto lines = lines_of(terminal_chart(chart, 80, ChartLetters::ascii));
  EXPECT_EQ(lines[1], "  * measured   - no difference");
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.ends_with("|" + std::string(69, '-')); }),
            1);
}

TEST(TerminalChart, WithoutAPointThereAreAxes) {
  Chart chart = rising_chart();
  chart.series.clear();
  chart.bands.clear();
  EXPECT_THAT(terminal_chart(chart, 80, ChartLetters::unicode), HasSubstr("└──"));
}

}  // namespace
}  // namespace collbench::terminal_chart_test
