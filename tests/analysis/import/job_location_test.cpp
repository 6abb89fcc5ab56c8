#include <gtest/gtest.h>

#include "analysis/import/log_readers.hpp"
#include "base/error.hpp"

namespace collbench::analysis::job_location_test {

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

TEST(RankCount, WhereAnotherJobsRowsBegin) {
  std::vector<LogRow> rows{row(100, 175), row(100, 175), row(100, 187.5), row(100, 193.75)};
  for (int at = 0; at < 4; ++at) rows[static_cast<std::size_t>(at)].line = 10 + at;
  const Operation& all_reduce = operation(OperationId::all_reduce);
  EXPECT_EQ(lines_of_other_jobs(all_reduce, rows), (std::vector<int>{12, 13}));
  rows.resize(2);
  EXPECT_TRUE(lines_of_other_jobs(all_reduce, rows).empty());
  rows.push_back(row(100, 250));
  EXPECT_TRUE(lines_of_other_jobs(all_reduce, rows).empty());
}

LogTable sixteen_ranks() {
  LogRow row;
  row.size_bytes = 8;
  row.count = 2;
  row.out_of_place.algorithm_bandwidth = {100, 0.005};
  row.out_of_place.bus_bandwidth = {187.5, 0.005};
  LogTable table;
  table.rows = {row};
  return table;
}

Identities location(LogTable& table, const JobGiven& given = {}) {
  return job_location(table, operation(OperationId::all_reduce), given, "a.log");
}

TEST(JobLocation, NcclsOwnLineHasTheNodes) {
  LogTable table = sixteen_ranks();
  table.facts.ranks = {16, 40};
  table.facts.nodes = {4, 40};
  table.facts.ranks_per_node = {4, 40};
  EXPECT_EQ(node_count(location(table)), 4);
}

TEST(JobLocation, ADeviceListWithAHoleIsNotGuessedFull) {
  LogTable table = sixteen_ranks();
  table.devices = {{0, 1, "n1", "", 5, ""}, {2, 1, "n2", "", 6, ""}};
  const Identities ranks = location(table);
  EXPECT_EQ(ranks.size(), 16U);
  EXPECT_EQ(ranks[0].host, "");
  EXPECT_FALSE(table.facts.nodes);
}

TEST(JobLocation, AListWithoutItsStartEndsWithTheLastRank) {
  LogTable table = sixteen_ranks();
  table.rows[0].out_of_place.bus_bandwidth = {187.5, 1.5};  // 15 to 18 ranks
  table.devices = {{14, 1, "n2", "", 5, ""}, {15, 1, "n2", "", 6, ""}};
  const auto ranks = [](LogTable copy) { return location(copy).size(); };
  EXPECT_EQ(ranks(table), 16U);
  table.devices.pop_back();
  EXPECT_EQ(ranks(table), 15U);
  table.devices.back().rank = 40;
  EXPECT_THROW((void)ranks(table), Error);
}

TEST(JobLocation, HostsOfOneNameAreNotTakenForOneHost) {
  LogTable table = sixteen_ranks();
  for (int rank = 0; rank < 16; ++rank)
    table.devices.push_back({rank, 100 + rank, "worker", "", 5 + rank, std::to_string(rank / 2) + " [0x1b]"});
  const Identities ranks = location(table);
  EXPECT_EQ(ranks.size(), 16U);
  EXPECT_FALSE(table.facts.nodes);
  ASSERT_EQ(table.facts.notes.size(), 1U);
  EXPECT_NE(table.facts.notes[0].find("device 0 [0x1b] of worker (line 6)"), std::string::npos);
  EXPECT_EQ(node_count(location(table, {2, std::nullopt})), 2);
}

TEST(JobLocation, RanksPerNodeAloneGivesTheNodes) {
  LogTable table = sixteen_ranks();
  EXPECT_EQ(node_count(location(table, {std::nullopt, 8})), 2);
  EXPECT_EQ(table.facts.nodes, (LogFact<int>{2, 0}));
}

TEST(JobLocation, NumbersThatMultiplyBeyondReasonAreRefused) {
  LogTable table = sixteen_ranks();
  EXPECT_THROW((void)location(table, {1000000, 1000000}), Error);
}

}  // namespace

}  // namespace collbench::analysis::job_location_test
