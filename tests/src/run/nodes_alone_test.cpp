#include "src/run/nodes_alone.hpp"

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

TEST(NodesAlone, TheLargestAllReduceThatIsJudgedUpTo1GiB) {
  using enum OperationId;
  const Identities two = ranks_on({2, 2});
  const auto size = [&](const std::vector<RowKey>& plan) {
    const auto row = row_of_nodes_alone(plan, two);
    return row ? row->size_bytes : 0;
  };
  EXPECT_EQ(size({row_of(all_reduce, 64 * kMiB), row_of(all_reduce, kGiB), row_of(all_reduce, 4 * kGiB)}),
            kGiB);
  EXPECT_EQ(size({row_of(all_reduce, 64 * kMiB), row_of(all_gather, kGiB)}), 64 * kMiB);
  EXPECT_EQ(size({row_of(all_reduce, 16 * kMiB)}), 0U) << "no verdict";
  EXPECT_EQ(size({row_of(all_reduce, kGiB, "ring")}), 0U) << "another one on one node";
  EXPECT_EQ(size({}), 0U);
}

TEST(NodesAlone, OnSeveralNodesOfAsManyRanks) {
  const std::vector<RowKey> plan{row_of(OperationId::all_reduce, kGiB)};
  EXPECT_TRUE(row_of_nodes_alone(plan, ranks_on({2, 2, 2})));
  EXPECT_FALSE(row_of_nodes_alone(plan, ranks_on({4})));
  EXPECT_FALSE(row_of_nodes_alone(plan, ranks_on({1, 1})));
  EXPECT_FALSE(row_of_nodes_alone(plan, ranks_on({2, 1})));
  EXPECT_FALSE(row_of_nodes_alone(plan, {}));
}

}  // namespace
}  // namespace collbench::program
