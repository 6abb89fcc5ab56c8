#include "analysis/attribution/pair_tables/pair_columns.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

TEST(PairColumns, EndsByTheirNames) {
  EXPECT_EQ(pair_ends({"test", "Src Host", "dst_host"}), (PairEnds{1, 2, true}));
  EXPECT_EQ(pair_ends({"node_a", "node_b", "busbw"}), (PairEnds{0, 1, false}));
  EXPECT_EQ(pair_ends({"Host 1", "Host 2"}), (PairEnds{0, 1, false}));
  EXPECT_EQ(pair_ends({"node2", "node1"}), (PairEnds{1, 0, false}));
  EXPECT_EQ(pair_ends({"node", "busbw"}), std::nullopt);
}

TEST(PairColumns, MeansBeforeOtherRatesAndTheNamedOneBeforeAll) {
  const std::vector<std::string> heading{"a", "b", "peak_busbw", "avg_busbw"};
  const PairEnds ends{0, 1, false};
  EXPECT_EQ(rate_column(heading, "", ends, "f"), 3U);
  EXPECT_EQ(rate_column(heading, "peak_busbw", ends, "f"), 2U);
  EXPECT_THROW((void)rate_column({"a", "b", "seconds"}, "", ends, "f"), Error);
  EXPECT_THROW((void)rate_column(heading, "busbw", ends, "f"), Error);
}

TEST(PairColumns, RailsThatAreNotUsed) {
  EXPECT_EQ(rail_column({"a", "HCA", "rail"}, {}), 1U);
  EXPECT_EQ(rail_column({"a", "hca", "rail"}, {1}), 2U);
  EXPECT_EQ(rail_column({"a", "b"}, {}), std::nullopt);
}

TEST(PairColumns, Units) {
  EXPECT_DOUBLE_EQ(unit_of_rates("bandwidth (GB/s)").first, 1e9);
  EXPECT_DOUBLE_EQ(unit_of_rates("bw_gbps").first, 1e9 / 8);
  EXPECT_DOUBLE_EQ(unit_of_rates("rate Gb/s").first, 1e9 / 8);
  EXPECT_DOUBLE_EQ(unit_of_rates("MB/s").first, 1e6);
  EXPECT_DOUBLE_EQ(unit_of_rates("GiB/s").first, 1073741824.0);
  EXPECT_EQ(unit_of_rates("busbw").second, "GB/s (the column names no unit)");
}

}  // namespace
}  // namespace collbench::analysis
