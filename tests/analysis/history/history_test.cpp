#include "analysis/history/history.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::history_test {
namespace {

Run scaled(double factor, const std::string& host) {
  auto run = example_run();
  for (Identity& rank : run.ranks) rank.host = host;
  for (Row& row : run.rows) row.measurement.seconds *= factor;
  return run;
}

TEST(RowTrends, FollowEveryRowOverTheRecordsThatHaveIt) {
  std::vector<collbench::Run> runs;
  for (int night = 0; night < 24; ++night) runs.push_back(scaled(night < 12 ? 1.0 : 1.5, "a"));
  runs[3].rows.erase(runs[3].rows.begin());
  const auto trends = row_trends(runs);
  ASSERT_EQ(trends.size(), 4U) << "the row that was not run is none";
  EXPECT_EQ(trends[0].seconds.size(), 23U);
  ASSERT_EQ(trends[0].changes.size(), 1U);
  EXPECT_EQ(trends[0].runs[trends[0].changes[0].at], 12U);
  EXPECT_NEAR(trends[0].changes[0].ratio, 1.5, 1e-9);
}

TEST(FleetTable, TheSlowestOddNodeComesFirstAndAllAreThere) {
  std::vector<collbench::Run> runs;
  for (int node = 0; node < 8; ++node)
    runs.push_back(scaled(node == 5 ? 2.0 : node == 6 ? 1.3 : 1 + 0.001 * node, "n" + std::to_string(node)));
  const FleetTable table = fleet_table(runs);
  ASSERT_EQ(table.nodes.size(), 8U);
  EXPECT_EQ(table.nodes[0].name, "n5");
  EXPECT_EQ(table.nodes[1].name, "n6");
  EXPECT_EQ(table.nodes[2].name, "n0");
  EXPECT_TRUE(table.nodes[1].is_odd[0]);
  EXPECT_FALSE(table.nodes[2].is_odd[0]);
}

TEST(FleetTable, OfTwoNodesNoneIsOdd) {
  const FleetTable table = fleet_table({scaled(1, "a"), scaled(3, "b")});
  for (const FleetNode& node : table.nodes) EXPECT_FALSE(node.is_odd[0]);
}

TEST(FleetTable, ANodeWithoutARowHasNone) {
  std::vector<collbench::Run> runs{scaled(1, "a"), scaled(1, "b"), scaled(1, "c")};
  runs[1].rows.resize(1);
  const FleetTable table = fleet_table(runs);
  EXPECT_EQ(table.rows.size(), 4U);
  EXPECT_FALSE(table.nodes[1].seconds[1]);
  EXPECT_FALSE(fleet_table({}).rows.size());
}

}  // namespace
}  // namespace collbench::analysis::history_test
