#include "collectives/engine/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"

namespace collbench::collectives::plan_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint64_t> sizes_of(const std::vector<RowKey>& rows) {
  std::vector<std::uint64_t> sizes;
  for (const RowKey& row : rows) sizes.push_back(row.size_bytes);
  return sizes;
}

std::vector<RowKey> rows_on(int ranks, const PlanRequest& request) {
  return plan_rows(request, ranks, traffic_by_distance(ranks));
}

TEST(Plan, TheUpperEndIsAlwaysTheLastSize) {
  EXPECT_THAT(geometric_sizes(8, 64, 4), ElementsAre(8, 32, 64));
  EXPECT_THAT(geometric_sizes(8, 128, 4), ElementsAre(8, 32, 128));
  EXPECT_THAT(geometric_sizes(8, 8, 4), ElementsAre(8));
  EXPECT_THAT(geometric_sizes(0, 8, 4), ElementsAre(0, 8));
  EXPECT_THAT(geometric_sizes(10, 12, 1.01), ElementsAre(10, 11, 12));
  EXPECT_THAT(arithmetic_sizes(10, 35, 10), ElementsAre(10, 20, 30, 35));
}

TEST(Plan, ASizeThatDoesNotDivideIsShownAsWhatRuns) {
  PlanRequest request;
  request.operations = {OperationId::all_gather};
  request.sizes_bytes = {8, 32, 100, 1000};
  auto rows = rows_on(3, request);
  // 8 and 32 B hold 0 and 10 for each of 3 ranks: at least 16 run.
  EXPECT_THAT(sizes_of(rows), ElementsAre(48, 96, 960));
  EXPECT_EQ(rows[1].count, 8U);
  request.buffers.exact_counts = true;
  rows = rows_on(3, request);
  EXPECT_THAT(sizes_of(rows), ElementsAre(12, 24, 96, 996));
  EXPECT_EQ(rows[2].count, 8U);
}

TEST(Plan, TwoSizesThatRunAsTheSameStandOnce) {
  PlanRequest request;
  request.operations = {OperationId::all_to_all};
  request.sizes_bytes = {8, 32, 100};
  EXPECT_THAT(sizes_of(rows_on(16, request)), ElementsAre(256));
}

TEST(Plan, ReductionsAndBothFormsAreRunWhereTheyExist) {
  PlanRequest request;
  request.operations = {OperationId::all_reduce, OperationId::all_gather, OperationId::send_recv};
  request.sizes_bytes = {64};
  request.reductions = {Reduction::sum, Reduction::max};
  request.in_place = true;
  const auto rows = rows_on(2, request);
  ASSERT_EQ(rows.size(), 4U + 2U + 1U);
  EXPECT_EQ(rows[0].reduction, Reduction::sum);
  EXPECT_FALSE(rows[0].in_place);
  EXPECT_TRUE(rows[1].in_place);
  EXPECT_EQ(rows[2].reduction, Reduction::max);
  EXPECT_EQ(rows[4].reduction, std::nullopt);
  EXPECT_FALSE(rows.back().in_place);
}

TEST(Plan, ACountThatMpiCannotTakeIsRefused) {
  PlanRequest request;
  request.operations = {OperationId::all_reduce};
  request.sizes_bytes = {4 * kGiB};
  request.types = {DataType::int8};
  EXPECT_THROW(static_cast<void>(rows_on(2, request)), Error);
  request.types = {DataType::float32};
  EXPECT_EQ(rows_on(2, request).size(), 1U);
}

TEST(Plan, AReduceScatterWhoseCountsAddUpToMoreThanMpiCountsIsRefused) {
  PlanRequest request;
  request.operations = {OperationId::reduce_scatter};
  request.types = {DataType::int8};
  request.elements_per_call = 2147483647;
  request.sizes_bytes = {2 * kGiB - 16};
  EXPECT_EQ(rows_on(16, request).size(), 1U);
  request.sizes_bytes = {4 * kGiB};  // 16 counts of 256 Mi, each of which fits
  EXPECT_THROW(rows_on(16, request), Error);
  request.operations = {OperationId::all_gather};
  EXPECT_EQ(rows_on(16, request).size(), 1U);
}

TEST(Plan, WhatHasNoInPlaceFormIsNotLeftOut) {
  PlanRequest request;
  request.operations = {OperationId::all_reduce, OperationId::send_recv};
  request.sizes_bytes = {8};
  request.out_of_place = false;
  request.in_place = true;
  const auto rows = rows_on(2, request);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].in_place);
  EXPECT_FALSE(rows[1].in_place);
}

TEST(Plan, ARootStandsInTheRowsOfWhatHasOne) {
  PlanRequest request;
  request.operations = {OperationId::broadcast, OperationId::all_reduce};
  request.sizes_bytes = {8};
  request.root = 1;
  auto rows = rows_on(3, request);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].root, 1);
  EXPECT_EQ(rows[1].root, std::nullopt);
  request.root = kEveryRoot;
  rows = rows_on(3, request);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[2].root, 2);
  request.root = 3;
  EXPECT_THROW(static_cast<void>(rows_on(3, request)), Error);
}

TEST(Plan, AllToAllvShowsWhatTheFullestRankMoves) {
  PlanRequest request;
  request.operations = {OperationId::all_to_all_v};
  request.sizes_bytes = {8, 12, 2400};
  // By distance among 4: 1, 2 and 3 of 6 parts, at least 16 B each.
  EXPECT_THAT(sizes_of(rows_on(4, request)), ElementsAre(48, 400 + 800 + 1200));
  request.buffers.exact_counts = true;
  EXPECT_THAT(sizes_of(rows_on(4, request)), ElementsAre(12, 2400));
}

TEST(Plan, MoreRowsThanAnybodyReadsAreRefusedBeforeTheyAreMade) {
  EXPECT_THROW(static_cast<void>(arithmetic_sizes(0, 1ULL << 60U, 1)), Error);
  EXPECT_THAT(arithmetic_sizes(~0ULL - 5, ~0ULL, 4), testing::ElementsAre(~0ULL - 5, ~0ULL - 1, ~0ULL));
  PlanRequest request;
  request.operations = {OperationId::all_reduce};
  for (std::uint64_t size = 4; size < 90'000; size += 4) request.sizes_bytes.push_back(size);
  EXPECT_THROW(static_cast<void>(rows_on(2, request)), Error);
}

}  // namespace
}  // namespace collbench::collectives::plan_test
