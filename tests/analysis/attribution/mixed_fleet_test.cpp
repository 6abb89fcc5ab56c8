#include "analysis/attribution/mixed_fleet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "analysis/attribution/burnin_text.hpp"
#include "analysis/attribution/pair_phase.hpp"
#include "analysis/report/burnin/direction_rates.hpp"
#include "tests/analysis/attribution/made_burnin.hpp"

namespace collbench::analysis::mixed_fleet_test {
namespace {

using testing::HasSubstr;

constexpr int kHosts = 16;
constexpr int kFaulty = 9;
const std::set<int> kA100{3, 5, 7, kFaulty, 11};
const std::set<int> kV100{13, 14};
constexpr int kUnknown = 15;

std::string model_of(int node) {
  if (kV100.contains(node)) return "Tesla V100";
  return kA100.contains(node) ? "NVIDIA A100" : "NVIDIA H100";
}

/// Hosts with A100 are half as fast as those with H100, and one of them is slower still.
double slower(int from, int to, int rail) {
  const auto of = [&](int node) {
    return (model_of(node) == "NVIDIA A100" ? 2.0 : 1.0) * (node == kFaulty && rail == 1 ? 1.5 : 1.0);
  };
  return std::max(of(from), of(to));
}

BurninRecord with_models(BurninRecord record) {
  for (int node = 0; node < kHosts; ++node) {
    if (node != kUnknown)
      record.gpu_models[record.table.nodes[slot_of(node)]] = std::vector<std::string>(8, model_of(node));
  }
  return record;
}

/// What of the pairs of all kinds the burn-in asks for.
BurninRecord measured(std::vector<PairBatch>& batches) {
  const BurninRecord all = made_burnin(kHosts, 2, slower);
  BurninRecord record = with_models(all);
  record.table.times.clear();
  measure_pairs(record, {}, [&](const PairBatch& batch) {
    batches.push_back(batch);
    for (const PairOnRail& pair : batch.pairs) {
      const auto [a, b] = pair.first;
      add_outcome(record, batch, pair, {1e-3 * slower(a, b, pair.second), 1e-3 * slower(b, a, pair.second)});
    }
    return true;
  });
  return record;
}

TEST(MixedFleet, PairsAreMeasuredAndComparedAmongAlikeHosts) {
  std::vector<PairBatch> batches;
  const BurninRecord record = measured(batches);
  for (const PairBatch& batch : batches) {
    for (const auto& [pair, rail] : batch.pairs) {
      EXPECT_TRUE(pair.second == kUnknown || model_of(pair.first) == model_of(pair.second));
      EXPECT_FALSE(kV100.contains(pair.first));
    }
  }
  // 9 hosts with H100 or not known, 5 with A100.
  EXPECT_EQ(record.planned, 2 * (9 * 8 / 2 + 5 * 4 / 2));
  const Attribution found = attribute(record);
  ASSERT_EQ(found.blames.size(), 1U);
  EXPECT_EQ(found.blames[0].nodes, std::vector{kFaulty});
  EXPECT_EQ(found.blames[0].rail, 1);
  EXPECT_TRUE(found.blames[0].confirmed);
  EXPECT_NEAR(found.blames[0].times_slower, 1.5, 1e-6);
  for (const NodeVerdict& verdict : found.nodes) {
    EXPECT_EQ(verdict.bucket, verdict.node == kFaulty        ? Bucket::bad
                              : kV100.contains(verdict.node) ? Bucket::not_tested
                                                             : Bucket::good)
        << record.table.nodes[slot_of(verdict.node)] << " " << verdict.why;
  }
  EXPECT_EQ(found.nodes[13].why,
            "of its kind, 8 × Tesla V100, there are 2 here, and by pairs fewer than 4 cannot be told apart");
  EXPECT_THAT(
      burnin_text(record, 1000),
      HasSubstr("They are compared with alike ones only, in pairs those whose GPUs are not known with "
                "the most frequent kind; pairs of two kinds are not measured"));
}

TEST(MixedFleet, PairsOfTwoKindsInAnOlderRecordSayNothing) {
  const BurninRecord record = with_models(made_burnin(kHosts, 2, slower));
  const Attribution found = attribute(record);
  ASSERT_EQ(found.blames.size(), 1U);
  EXPECT_EQ(found.blames[0].nodes, std::vector{kFaulty});
  // Were all alike, the five would be too slow for most others.
  EXPECT_GT(attribute(made_burnin(kHosts, 2, slower)).blames.size(), 1U);
}

TEST(MixedFleet, TheMapComparesWithTheSameKind) {
  std::vector<PairBatch> batches;
  const DirectionRates rates = direction_rates(measured(batches));
  for (const DirectionRate& rate : rates.all) {
    const bool is_slow = rate.rail == 1 && (rate.from == kFaulty || rate.to == kFaulty);
    EXPECT_NEAR(rate.share, is_slow ? 1 / 1.5 : 1, 1e-6);
  }
  EXPECT_EQ(rates.all.size(), 2U * 2 * (9 * 8 / 2 + 5 * 4 / 2));
  EXPECT_NEAR(rates.covered, (9.0 * 8 + 5 * 4) / (16 * 15), 1e-9);
  EXPECT_TRUE(std::isnan(rates.effects.send[13][0]));
}

}  // namespace
}  // namespace collbench::analysis::mixed_fleet_test
