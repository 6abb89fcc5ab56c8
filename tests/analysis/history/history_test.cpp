#include "analysis/history/history.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

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

TEST(FleetTable, OfFewerThanEightNodesNoneIsOdd) {
  std::vector<collbench::Run> runs;
  for (int node = 0; node < 7; ++node)
    runs.push_back(scaled(node == 3 ? 2.0 : 1.0, "n" + std::to_string(node)));
  for (const FleetNode& node : fleet_table(runs).nodes) EXPECT_FALSE(node.is_odd[0]);
}

TEST(FleetTable, HealthyFleetsSeldomHaveAnOddNode) {
  std::mt19937 random(1);  // a fixed seed: the same fleets every time
  std::normal_distribution<double> five_percent(0, 0.05);
  for (const int nodes : {8, 16, 32}) {
    constexpr int kFleets = 100;
    int with_odd = 0;
    for (int fleet = 0; fleet < kFleets; ++fleet) {
      std::vector<collbench::Run> runs;
      for (int node = 0; node < nodes; ++node) {
        runs.push_back(scaled(1, "n" + std::to_string(node)));
        for (Row& row : runs.back().rows) row.measurement.seconds *= std::exp(five_percent(random));
      }
      const FleetTable table = fleet_table(runs);
      with_odd += std::any_of(table.nodes.begin(), table.nodes.end(), [](const FleetNode& node) {
        return std::find(node.is_odd.begin(), node.is_odd.end(), true) != node.is_odd.end();
      });
    }
    EXPECT_LE(with_odd, 10) << nodes << " nodes: 5 of 100 are promised";
  }
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
  EXPECT_TRUE(fleet_table({}).rows.empty());
}

}  // namespace
}  // namespace collbench::analysis::history_test
