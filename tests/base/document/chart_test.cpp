#include "base/document/chart.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace collbench {
namespace {

using testing::ElementsAre;

Chart rates_chart() {
  return {.id = "busbw",
          .title = "AllReduce: bus bandwidth by size",
          .x = {"size", AxisUnit::bytes, true},
          .y = {"busbw (GB/s)", AxisUnit::gigabytes, false},
          .series = {{"measured",
                      SeriesKind::measured,
                      {{8, 0.5, 0.4, 0.6, ""}, {1048576, 46.7, {}, {}, "ring"}}},
                     {"ring", SeriesKind::ring, {{8, 0.7, {}, {}, ""}}}},
          .bands = {{"expected band", {{8, 0.3, 0.9}, {1048576, 40, 52}}}}};
}

std::vector<std::string> texts_of(const std::vector<AxisTick>& ticks) {
  std::vector<std::string> texts;
  for (const AxisTick& tick : ticks) texts.push_back(tick.text);
  return texts;
}

TEST(Chart, RangesHoldEverythingAndRatesBeginAtZero) {
  const Chart chart = rates_chart();
  EXPECT_EQ(x_range(chart).low, 8);
  EXPECT_EQ(x_range(chart).high, 1048576);
  EXPECT_EQ(y_range(chart).low, 0);
  EXPECT_EQ(y_range(chart).high, 60);  // the band reaches 52
}

TEST(Chart, ALogarithmicAxisLeavesOutWhatItCannotShow) {
  Chart chart = rates_chart();
  chart.y.logarithmic = true;
  chart.series[0].points.push_back({4, 0, {}, {}, ""});
  chart.series[0].points.push_back({4, std::numeric_limits<double>::infinity(), {}, {}, ""});
  EXPECT_EQ(y_range(chart).low, 0.1);
  EXPECT_EQ(y_range(chart).high, 100);
  EXPECT_EQ(position_on(chart.y, {0.1, 100}, 0), std::nullopt);
  EXPECT_EQ(position_on(chart.y, {0.1, 100}, 0.1), 0);
  EXPECT_EQ(position_on(chart.y, {0.1, 100}, 100), 1);
}

TEST(Chart, WithoutAPointItsRangesAreNotEmpty) {
  const Chart chart{.id = "none",
                    .title = "",
                    .x = {"", AxisUnit::bytes, true},
                    .y = {"", AxisUnit::seconds, true},
                    .series = {}};
  EXPECT_LT(x_range(chart).low, x_range(chart).high);
  EXPECT_LT(y_range(chart).low, y_range(chart).high);
}

TEST(Chart, TicksAreRoundAndAsManyAsThereIsRoomFor) {
  EXPECT_THAT(texts_of(axis_ticks({"", AxisUnit::bytes, true}, {8, 1048576}, 9)),
              ElementsAre("8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB"));
  EXPECT_THAT(texts_of(axis_ticks({"", AxisUnit::seconds, true}, {1e-6, 1e-2}, 8)),
              ElementsAre("1 µs", "10 µs", "100 µs", "1 ms", "10 ms"));
  EXPECT_THAT(texts_of(axis_ticks({"", AxisUnit::gigabytes, false}, {0, 60}, 8)),
              ElementsAre("0", "10", "20", "30", "40", "50", "60"));
  EXPECT_THAT(texts_of(axis_ticks({"", AxisUnit::gigabytes, true}, {1, 100}, 8)),
              ElementsAre("1", "2", "5", "10", "20", "50", "100"));
  EXPECT_THAT(texts_of(axis_ticks({"", AxisUnit::ratio, false}, {0.9, 1.1}, 6)),
              ElementsAre("0.9", "0.95", "1", "1.05", "1.1"));
}

TEST(Chart, EveryNumberOfAPictureStandsInItsTable) {
  EXPECT_THAT(chart_table(rates_chart()),
              ElementsAre(ElementsAre("size", "measured (95 % interval)", "ring", "expected band"),
                          ElementsAre("8 B", "0.500 GB/s (0.400 GB/s to 0.600 GB/s)", "0.700 GB/s",
                                      "0.300 GB/s to 0.900 GB/s"),
                          ElementsAre("1 MiB", "46.7 GB/s", "–", "40.0 GB/s to 52.0 GB/s")));
}

}  // namespace
}  // namespace collbench
