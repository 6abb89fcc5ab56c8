#include "analysis/report/run_charts.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace collbench::analysis::chosen_charts_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Chart> charts_called(const std::vector<std::string>& ids) {
  std::vector<Chart> charts;
  for (const std::string& id : ids) charts.push_back({.id = id, .title = "", .x = {}, .y = {}, .series = {}});
  return charts;
}

std::vector<std::string> chosen(const std::vector<std::string>& ids, std::string_view name) {
  std::vector<std::string> found;
  for (const Chart& chart : chosen_charts(charts_called(ids), name)) found.push_back(chart.id);
  return found;
}

TEST(ChosenCharts, AKindIsThatOfEveryOperation) {
  const std::vector<std::string> ids{"busbw-all_to_all", "time-all_to_all", "busbw-all_to_all_v",
                                     "busbw-all_reduce-1", "busbw-all_reduce-2"};
  EXPECT_THAT(chosen(ids, ""), ElementsAre(ids[0], ids[2], ids[3], ids[4]));
  EXPECT_THAT(chosen(ids, "time"), ElementsAre(ids[1]));
  EXPECT_THAT(chosen(ids, "busbw-all_to_all"), ElementsAre(ids[0]));
  EXPECT_THAT(chosen(ids, "busbw-all_reduce"), ElementsAre(ids[3], ids[4]));
}

TEST(ChosenCharts, WithoutBandwidthThereIsWhatThereIs) {
  EXPECT_THAT(chosen({"time-all_reduce"}, ""), ElementsAre("time-all_reduce"));
  EXPECT_THAT(chosen({}, ""), IsEmpty());
  EXPECT_THROW((void)chosen({"time-all_reduce"}, "busbw"), Error);
}

TEST(ChosenCharts, NamesAreOfEveryOperation) {
  EXPECT_THAT(chart_names(run_chart_kinds()), Contains("time-reduce_scatter"));
  EXPECT_THAT(chart_names(comparison_chart_kinds()), Contains("ratio-all_to_all_v"));
}

}  // namespace
}  // namespace collbench::analysis::chosen_charts_test
