#include "tools/burnin/attribution/pair_phase.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/deterministic_random.hpp"
#include "tests/sanitizers.hpp"
#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis::pair_phase_test {
namespace {

/// A fleet as a table of times: 0.4 % of noise (normal); one pair in 20 takes up to 30 % more while others
/// run.
class Fleet {
 public:
  using Slower = std::function<double(int from, int to, int rail)>;

  Fleet(int hosts, int rails, int leaf_nodes, Slower slower, std::uint64_t seed)
      : slower_(std::move(slower)), counter_(scrambled(seed)) {
    record.table.rails = rails;
    record.bytes = 1e6;
    for (int node = 0; node < hosts; ++node) {
      record.table.nodes.push_back("n" + std::to_string(node));
      if (leaf_nodes > 0) record.table.leaf_of_node.push_back(node / leaf_nodes);
    }
  }

  void burn_in(const PairPhaseOptions& options) {
    measure_pairs(record, options, [this](const PairBatch& batch) {
      batches.push_back(batch);
      for (const PairOnRail& pair : batch.pairs) {
        const auto [a, b] = pair.first;
        add_outcome(record, batch, pair,
                    {seconds(a, b, pair.second, batch), seconds(b, a, pair.second, batch)});
      }
      return true;
    });
  }

  BurninRecord record{};
  std::vector<PairBatch> batches{};
  double company = 1;  ///< what a round costs everybody; a batch of repeats costs half of that

 private:
  double uniform() { return (static_cast<double>(scrambled(counter_++) % 1'000'000) + 0.5) / 1e6; }

  double seconds(int from, int to, int rail, const PairBatch& batch) {
    const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
    const double disturbed = !batch.alone && uniform() < 0.05 ? 1 + 0.3 * uniform() : 1;
    const double cost = batch.alone ? 1 : batch.repeat > 0 ? (1 + company) / 2 : company;
    return 1e-3 * (1 + 0.004 * normal) * disturbed * cost * slower_(from, to, rail);
  }

  Slower slower_;
  std::uint64_t counter_;
};

/// Kind, nodes, rail and whether it is confirmed, of each finding; and who is not good.
using Found = std::pair<std::set<std::tuple<BlameKind, std::vector<int>, int, bool>>, std::set<int>>;

Found found_in(const BurninRecord& record) {
  const Attribution attribution = attribute(record);
  Found found;
  for (const Blame& blame : attribution.blames)
    found.first.insert({blame.kind, blame.nodes, blame.rail.value_or(-1), blame.confirmed});
  for (const NodeVerdict& node : attribution.nodes) {
    if (node.bucket != Bucket::good) found.second.insert(node.node);
  }
  return found;
}

TEST(PairPhase, OneHundredFleetsFindTheSameWithAndWithoutRepeats) {
  constexpr int kHosts = 32;
  std::size_t in_batches = 0;
  std::size_t one_by_one = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    // None, a NIC, a NIC as sender, a host, a path; the leaves known for half of the fleets.
    const int bad = static_cast<int>(scrambled(seed) % kHosts);
    const int other = (bad + 21) % kHosts;
    const std::uint64_t kind = seed % 5;
    const auto slower = [&](int from, int to, int rail) {
      const bool of_bad = from == bad || to == bad;
      if (kind == 1) return of_bad && rail == 1 ? 2.0 : 1;
      if (kind == 2) return from == bad && rail == 0 ? 1.3 : 1;
      if (kind == 3) return of_bad ? 1.5 : 1;
      if (kind == 4) return of_bad && (from == other || to == other) && rail == 1 ? 2.0 : 1;
      return 1.0;
    };
    Fleet repeated(kHosts, 2, seed % 2 == 0 ? 8 : 0, slower, seed);
    Fleet alone(kHosts, 2, seed % 2 == 0 ? 8 : 0, slower, seed);
    repeated.burn_in({});
    alone.burn_in({.few_retests = std::numeric_limits<std::size_t>::max()});
    EXPECT_EQ(found_in(repeated.record), found_in(alone.record)) << "seed " << seed;
    EXPECT_EQ(found_in(repeated.record).first.size(), kind == 0 ? 0U : 1U) << "seed " << seed;
    in_batches += repeated.batches.size();
    one_by_one += alone.batches.size();
  }
  EXPECT_LT(3 * in_batches, 2 * one_by_one);
}

TEST(PairPhase, NoNodeIsTwiceInABatchAndWhoIsAloneIsAlone) {
  Fleet fleet(64, 2, 16, [](int a, int b, int rail) { return rail == 0 && (a == 5 || b == 5) ? 2.0 : 1; }, 3);
  fleet.burn_in({.at_once = 20});
  std::size_t repeats = 0;
  std::size_t alone = 0;
  for (const PairBatch& batch : fleet.batches) {
    std::set<int> nodes;
    for (const auto& [pair, rail] : batch.pairs) {
      EXPECT_TRUE(nodes.insert(pair.first).second && nodes.insert(pair.second).second);
    }
    EXPECT_LE(batch.pairs.size(), 20U);
    EXPECT_TRUE(!batch.alone || batch.pairs.size() == 1);
    repeats += batch.repeat > 0 ? 1 : 0;
    alone += batch.alone ? 1 : 0;
  }
  EXPECT_GT(repeats, 0U);
  EXPECT_NE(burnin_text(fleet.record, 200).find("beside others and were measured again so: "),
            std::string::npos);
  EXPECT_GE(alone, 2U);
}

// A round costs everybody half as much again and a batch of repeats a quarter: who is 20 % slow is not
// cleared by what the batch saved.
TEST(PairPhase, WhatABatchSavesEverybodyClearsNobody) {
  for (std::uint64_t seed = 1; seed <= (few_draws() ? 1 : 10); ++seed) {
    Fleet fleet(64, 1, 0, [](int a, int b, int) { return a + b == 41 && a * b == 400 ? 1.2 : 1; }, seed);
    fleet.company = 1.5;
    fleet.burn_in({.few_retests = 0});
    const Attribution found = attribute(fleet.record);
    ASSERT_EQ(found.blames.size(), 1U) << seed;
    EXPECT_EQ(found.blames.front().nodes, (std::vector<int>{16, 25}));
    EXPECT_TRUE(found.blames.front().confirmed);
    EXPECT_NEAR(found.blames.front().times_slower, 1.2, 0.02);
  }
}

TEST(PairPhase, WhatDoesNotFitIsCountedAndWhatWasMeasuredIsNotMeasuredAgain) {
  Fleet fleet(8, 2, 0, [](int, int, int) { return 1.0; }, 1);
  int left = 5;
  std::size_t measured = 0;
  const auto measure = [&](const PairBatch& batch) {
    if (left-- <= 0) return false;
    for (const PairOnRail& pair : batch.pairs) {
      add_outcome(fleet.record, batch, pair, {1e-3, 1e-3});
      measured += 1;
    }
    return true;
  };
  measure_pairs(fleet.record, {}, measure);
  EXPECT_EQ(fleet.record.planned, 56);
  EXPECT_EQ(fleet.record.left_out, 36);
  EXPECT_EQ(measured, 20U);
  fleet.record.planned = fleet.record.left_out = 0;
  left = 1000;
  measure_pairs(fleet.record, {}, measure);
  EXPECT_EQ(measured, 56U);
  EXPECT_EQ(fleet.record.left_out, 0);
}

TEST(PairPhase, AFailureIsNoLongerOneWhenThePairGivesTimes) {
  BurninRecord record;
  const PairOnRail pair{{0, 1}, 0};
  add_outcome(record, {{pair}}, pair, {.why = "no route"});
  ASSERT_EQ(record.failures.size(), 1U);
  EXPECT_FALSE(record.failures.front().alone);
  add_outcome(record, {{pair}, true, 0}, pair, {1, 2});
  EXPECT_TRUE(record.failures.empty());
  EXPECT_EQ(record.table.times, (std::vector<RailTime>{{0, 1, 0, 1, true}, {1, 0, 0, 2, true}}));
}

}  // namespace
}  // namespace collbench::analysis::pair_phase_test
