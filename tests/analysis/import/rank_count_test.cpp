#include "analysis/import/rank_count.hpp"

#include <gtest/gtest.h>

namespace collbench::analysis::rank_count_test {
namespace {

LogRow row(double algorithm_bandwidth, double bus_bandwidth, std::uint64_t count = 2) {
  LogRow result;
  result.size_bytes = 8;
  result.count = count;
  result.out_of_place.algorithm_bandwidth = {algorithm_bandwidth, 0.005};
  result.out_of_place.bus_bandwidth = {bus_bandwidth, 0.005};
  return result;
}

std::optional<RankRange> ranks(OperationId id, std::vector<LogRow> rows) {
  return ranks_by_rates(operation(id), rows);
}

TEST(RankCount, TheFactorIsTheNumberOfRanks) {
  EXPECT_EQ(ranks(OperationId::all_reduce, {row(100, 187.5)}), (RankRange{16, 16}));
  EXPECT_EQ(ranks(OperationId::all_reduce, {row(186.39, 369.86)}), (RankRange{128, 128}));
}

TEST(RankCount, SmallRatesSayLittleAndMoreRowsSayMore) {
  const auto wide = ranks(OperationId::all_reduce, {row(0.05, 0.09)});
  ASSERT_TRUE(wide);
  EXPECT_LT(wide->least, 16);
  EXPECT_GT(wide->most, 16);
  EXPECT_EQ(ranks(OperationId::all_reduce, {row(0.05, 0.09), row(100, 187.5)}), (RankRange{16, 16}));
}

TEST(RankCount, SizeOverCountIsTheNumberOfRanks) {
  EXPECT_EQ(ranks(OperationId::all_gather, {row(0, 0, 1)}), (RankRange{2, 2}));
  EXPECT_FALSE(ranks(OperationId::all_reduce, {row(0, 0, 1)}));
}

TEST(RankCount, OneRankMovesNothing) {
  EXPECT_EQ(ranks(OperationId::all_reduce, {row(400, 0)}), (RankRange{1, 1}));
}

TEST(RankCount, RowsThatContradictEachOtherFitNothing) {
  EXPECT_FALSE(ranks(OperationId::all_reduce, {row(100, 187.5), row(100, 150)}));
  EXPECT_FALSE(ranks(OperationId::broadcast, {row(100, 187.5)}));
  EXPECT_EQ(ranks(OperationId::broadcast, {row(100, 100)}), RankRange{});
}

}  // namespace
}  // namespace collbench::analysis::rank_count_test
