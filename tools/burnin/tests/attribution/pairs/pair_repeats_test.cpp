#include "tools/burnin/attribution/pairs/pair_repeats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tools/burnin/attribution/blame.hpp"
#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis::pair_repeats_test {
namespace {

using Slower = std::function<double(int, int, int)>;

PairTable in_company(int nodes, const Slower& slower) {
  PairTable table = made_pairs(nodes, 1, slower);
  for (RailTime& time : table.times) time.alone = false;
  return table;
}

void add_repeat(PairTable& table, int batch, int a, int b, double seconds) {
  table.times.push_back({a, b, 0, seconds, false, {}, {}, batch});
  table.times.push_back({b, a, 0, seconds, false, {}, {}, batch});
}

/// A batch in which pairs that did not stand out take `seconds`.
void add_references(PairTable& table, int batch, double seconds) {
  for (const int node : {4, 6, 8}) add_repeat(table, batch, node, node + 1, seconds);
}

double slow_path(int a, int b, int /*rail*/) { return a + b == 1 ? 1.5 : 1; }

TEST(PairRepeats, WhoIsFastBesideOthersIsClearedAndWhoIsNotIsNot) {
  PairTable table = in_company(10, slow_path);
  EXPECT_EQ(standing_out(table), (std::vector<PairOnRail>{{{0, 1}, 0}}));
  PairTable slow = table;
  add_references(table, 1, 1e-3);
  add_repeat(table, 1, 0, 1, 1e-3);
  EXPECT_TRUE(attribute(table).blames.empty());
  EXPECT_TRUE(standing_out(table).empty());
  EXPECT_EQ(settled_pairs(table).repeated, 2U);
  EXPECT_EQ(settled_pairs(table).eased, 2U);
  EXPECT_EQ(settled_pairs(table).table.times.size(), 90U);
  add_references(slow, 1, 1e-3);
  add_repeat(slow, 1, 0, 1, 1.5e-3);
  ASSERT_EQ(attribute(slow).blames.size(), 1U);
  EXPECT_EQ(attribute(slow).blames.front().nodes, (std::vector<int>{0, 1}));
  EXPECT_EQ(settled_pairs(slow).eased, 0U);
}

TEST(PairRepeats, ABatchThatIsFasterForEverybodyClearsNobody) {
  PairTable table = in_company(10, slow_path);
  add_references(table, 1, 0.6e-3);
  add_repeat(table, 1, 0, 1, 0.9e-3);
  EXPECT_EQ(attribute(table).blames.size(), 1U);
}

TEST(PairRepeats, WithTooFewReferencesABatchDecidesNothing) {
  PairTable table = in_company(10, slow_path);
  add_repeat(table, 1, 4, 5, 1e-3);
  add_repeat(table, 1, 0, 1, 1e-3);
  EXPECT_EQ(attribute(table).blames.size(), 1U);
  EXPECT_EQ(settled_pairs(table).repeated, 0U);
}

TEST(PairRepeats, TheFastestOfSeveralCounts) {
  PairTable table = in_company(10, slow_path);
  for (const int batch : {1, 2}) {
    add_references(table, batch, 1e-3);
    add_repeat(table, batch, 0, 1, batch == 1 ? 1.3e-3 : 1e-3);
  }
  EXPECT_EQ(last_repeat(table), 2);
  EXPECT_TRUE(attribute(table).blames.empty());
}

TEST(PairRepeats, PairsOfASlowNodeAreRepeatedOnce) {
  PairTable table = in_company(10, [](int a, int b, int) { return a == 2 || b == 2 ? 2.0 : 1; });
  EXPECT_EQ(standing_out(table).size(), 9U);
  add_references(table, 1, 1e-3);
  for (const int other : {0, 1, 3}) add_repeat(table, 1, std::min(2, other), std::max(2, other), 2e-3);
  EXPECT_EQ(standing_out(table).size(), 6U);
  EXPECT_EQ(attribute(table).blames.front().kind, BlameKind::node);
}

TEST(PairRepeats, BatchesAreDisjointAndHaveReferencesOfTheSameClass) {
  PairTable table = in_company(64, [](int a, int b, int) { return a < 20 && b == 63 - a ? 1.4 : 1; });
  for (int node = 0; node < 64; ++node) table.leaf_of_node.push_back(node / 16);
  const std::vector<PairOnRail> slow = standing_out(table);
  ASSERT_EQ(slow.size(), 20U);
  std::set<PairOnRail> planned;
  for (const auto& batch : repeat_batches(table, slow, 128)) {
    EXPECT_LE(batch.size(), 16U);
    std::set<int> nodes;
    std::size_t suspects = 0;
    for (const PairOnRail& pair : batch) {
      EXPECT_TRUE(nodes.insert(pair.first.first).second && nodes.insert(pair.first.second).second);
      EXPECT_EQ(path_class(table, pair.first.first, pair.first.second), 1);
      const bool is_suspect = std::find(slow.begin(), slow.end(), pair) != slow.end();
      suspects += is_suspect ? 1 : 0;
      if (is_suspect) planned.insert(pair);
    }
    EXPECT_GE(batch.size() - suspects, std::max(suspects, kMinReferences / 2));
  }
  EXPECT_EQ(planned.size(), slow.size());
  EXPECT_TRUE(repeat_batches(table, slow, 4).empty()) << "no room for references";
}

}  // namespace
}  // namespace collbench::analysis::pair_repeats_test
