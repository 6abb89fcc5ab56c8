#include "src/run/node_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.hpp"

namespace collbench::program {
namespace {

RowKey row_of(OperationId operation, std::uint64_t size_bytes,
              const std::string& algorithm = kLibraryChoice) {
  RowKey key;
  key.operation = operation;
  key.size_bytes = size_bytes;
  key.algorithm = algorithm;
  return key;
}

Identities ranks_on(const std::vector<int>& nodes) {
  Identities ranks;
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (int local = 0; local < nodes[node]; ++local)
      ranks.push_back({static_cast<int>(ranks.size()), "host", static_cast<int>(node), local});
  return ranks;
}

/// "AllReduce 1024 MiB on each node alone: 0 1", a line for each step.
std::vector<std::string> steps_of(const std::vector<RowKey>& plan, const std::vector<int>& nodes,
                                  double run_seconds = 120) {
  std::vector<std::string> lines;
  for (const GroupStep& step : group_steps(plan, ranks_on(nodes), {}, run_seconds)) {
    std::vector<std::string> groups;
    for (const std::vector<int>& group : step.groups)
      groups.push_back(fmt::format("{}", fmt::join(group, "+")));
    lines.push_back(fmt::format("{} {} MiB {}: {}", operation(step.row.operation).name,
                                step.row.size_bytes / kMiB, step.where, fmt::join(groups, " ")));
  }
  return lines;
}

using testing::ElementsAre;
using testing::IsEmpty;
using enum OperationId;

TEST(GroupSteps, TheLargestAllReduceThatIsJudgedUpTo1GiBOnEachNode) {
  EXPECT_THAT(
      steps_of({row_of(all_reduce, 64 * kMiB), row_of(all_reduce, kGiB), row_of(all_reduce, 4 * kGiB)},
               {2, 2}),
      ElementsAre("AllReduce 1024 MiB on each node alone: 0 1"));
  EXPECT_THAT(steps_of({row_of(all_reduce, 64 * kMiB), row_of(all_gather, kGiB)}, {2, 2}),
              ElementsAre("AllReduce 64 MiB on each node alone: 0 1"));
  EXPECT_THAT(steps_of({row_of(all_reduce, 16 * kMiB)}, {2, 2}), IsEmpty()) << "no verdict";
  EXPECT_THAT(steps_of({row_of(all_reduce, kGiB, "ring")}, {2, 2}), IsEmpty()) << "another one on one node";
  EXPECT_THAT(steps_of({}, {2, 2}), IsEmpty());
}

TEST(GroupSteps, OfThreeNodesAndMoreEachWithItsNeighbors) {
  const std::vector<RowKey> plan{row_of(all_reduce, kGiB), row_of(all_gather, 256 * kMiB)};
  EXPECT_THAT(steps_of(plan, {2, 2, 2, 2}),
              ElementsAre("AllReduce 1024 MiB on each node alone: 0 1 2 3",
                          "AllGather 256 MiB on pairs of neighboring nodes: 0+1 2+3",
                          "AllGather 256 MiB on pairs of neighboring nodes: 1+2 3+0"));
  EXPECT_THAT(steps_of({row_of(all_reduce, kGiB)}, {1, 1, 1}),
              ElementsAre("AllReduce 1024 MiB on pairs of neighboring nodes: 0+1",
                          "AllReduce 1024 MiB on pairs of neighboring nodes: 1+2",
                          "AllReduce 1024 MiB on pairs of neighboring nodes: 2+0"));
  EXPECT_THAT(steps_of({row_of(reduce_scatter, kGiB)}, {1, 1, 1, 1, 1}),
              ElementsAre(testing::EndsWith(": 0+1 2+3"), testing::EndsWith(": 1+2 3+4"),
                          testing::EndsWith(": 4+0")));
}

TEST(GroupSteps, APairsRowIsOfItsOwnRanks) {
  const std::vector<GroupStep> steps =
      group_steps({row_of(all_gather, kGiB)}, ranks_on({2, 2, 2, 2}), {}, 120);
  ASSERT_THAT(steps, testing::SizeIs(2));
  EXPECT_EQ(steps[0].row.size_bytes, kGiB);
  EXPECT_EQ(steps[0].row.count, kGiB / 4 / sizeof(float));
}

TEST(GroupSteps, PairsTakeATenthOfTheTimeOrAreLeftOut) {
  const std::vector<RowKey> plan{row_of(all_reduce, kGiB)};
  EXPECT_THAT(steps_of(plan, {2, 2, 2, 2}, 20), testing::SizeIs(1)) << "each node alone";
  const std::vector<GroupStep> steps = group_steps(plan, ranks_on({2, 2, 2}), {}, 120);
  ASSERT_THAT(steps, testing::SizeIs(4));
  EXPECT_DOUBLE_EQ(steps[0].seconds, 6);
  EXPECT_DOUBLE_EQ(steps[1].seconds, 4);
  EXPECT_DOUBLE_EQ(group_steps(plan, ranks_on({2, 2, 2}), {}, 1e9)[3].seconds, 15);
}

TEST(GroupSteps, OnSeveralNodesOfAsManyRanks) {
  const std::vector<RowKey> plan{row_of(all_reduce, kGiB)};
  EXPECT_THAT(steps_of(plan, {4}), IsEmpty());
  EXPECT_THAT(steps_of(plan, {1, 1}), IsEmpty()) << "two nodes are the only pair, which the rows measure";
  EXPECT_THAT(steps_of(plan, {2, 1, 2}), IsEmpty());
  EXPECT_THAT(steps_of(plan, {}), IsEmpty());
}

}  // namespace
}  // namespace collbench::program
