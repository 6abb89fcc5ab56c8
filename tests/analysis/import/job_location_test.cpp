#include "analysis/import/job_location.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::analysis::job_location_test {
namespace {

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

Identities place(LogTable& table, const JobGiven& given = {}) {
  return job_location(table, operation(OperationId::all_reduce), given, "a.log");
}

TEST(JobPlace, NcclsOwnLineTellsNodes) {
  LogTable table = sixteen_ranks();
  table.facts.ranks = {16, 40};
  table.facts.nodes = {4, 40};
  table.facts.ranks_per_node = {4, 40};
  EXPECT_EQ(node_count(place(table)), 4);
}

TEST(JobPlace, ADeviceListWithAHoleIsNotGuessedFull) {
  LogTable table = sixteen_ranks();
  table.devices = {{0, 1, "n1", "", 5}, {2, 1, "n2", "", 6}};
  const Identities ranks = place(table);
  EXPECT_EQ(ranks.size(), 16U);
  EXPECT_EQ(ranks[0].host, "");
  EXPECT_FALSE(table.facts.nodes);
}

TEST(JobPlace, RanksPerNodeAloneGivesTheNodes) {
  LogTable table = sixteen_ranks();
  EXPECT_EQ(node_count(place(table, {std::nullopt, 8})), 2);
  EXPECT_EQ(table.facts.nodes, (LogFact<int>{2, 0}));
}

TEST(JobPlace, NumbersThatMultiplyBeyondReasonAreRefused) {
  LogTable table = sixteen_ranks();
  EXPECT_THROW((void)place(table, {1000000, 1000000}), Error);
}

}  // namespace
}  // namespace collbench::analysis::job_location_test
