#include "tools/burnin/attribution/mixed_fleet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/burnin/attribution/burnin_text.hpp"
#include "tools/burnin/attribution/pair_phase.hpp"
#include "tools/burnin/report/direction_rates.hpp"
#include "tools/burnin/tests/attribution/made_burnin.hpp"

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

/// One of the hosts with H100 has a GPU fewer, which makes none of its links slower.
BurninRecord with_models(BurninRecord record) {
  for (int node = 0; node < kHosts; ++node) {
    if (node != kUnknown)
      record.gpu_models[record.table.nodes[slot_of(node)]] =
          std::vector<std::string>(node == 12 ? 7 : 8, model_of(node));
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
      EXPECT_EQ(model_of(pair.first), model_of(pair.second));
      EXPECT_FALSE(kV100.contains(pair.first));
      EXPECT_NE(pair.second, kUnknown);
    }
  }
  // 8 hosts with H100, 5 with A100.
  EXPECT_EQ(record.planned, 2 * (8 * 7 / 2 + 5 * 4 / 2));
  const Attribution found = attribute(record);
  ASSERT_EQ(found.blames.size(), 1U);
  EXPECT_EQ(found.blames[0].nodes, std::vector{kFaulty});
  EXPECT_EQ(found.blames[0].rail, 1);
  EXPECT_TRUE(found.blames[0].confirmed);
  EXPECT_NEAR(found.blames[0].times_slower, 1.5, 1e-6);
  for (const NodeVerdict& verdict : found.nodes) {
    const bool has_no_like = kV100.contains(verdict.node) || verdict.node == kUnknown;
    EXPECT_EQ(verdict.bucket, verdict.node == kFaulty ? Bucket::bad
                              : has_no_like           ? Bucket::not_tested
                                                      : Bucket::good)
        << record.table.nodes[slot_of(verdict.node)] << " " << verdict.why;
  }
  EXPECT_EQ(found.nodes[13].why, "only 2 hosts here with Tesla V100; pairs need at least 4");
  EXPECT_EQ(found.nodes[kUnknown].why, "only host here with no GPUs, or unknown ones; pairs need at least 4");
  const std::string text = burnin_text(record, 1000);
  EXPECT_THAT(text, HasSubstr("and in pairs only with hosts that have the same models; pairs of different "
                              "models are not compared"));
  EXPECT_THAT(text, HasSubstr("rail 0, hosts like n0: 56 directions, median 1 GB/s, slowest 1 "));
}

TEST(MixedFleet, WhereNoKindIsLargeEnoughNobodyIsGood) {
  BurninRecord record;
  record.table.nodes = {"n0", "n1", "n2", "n3"};
  for (int node = 0; node < 4; ++node)
    record.gpu_models[record.table.nodes[slot_of(node)]] = {node < 2 ? "NVIDIA H100" : "NVIDIA A100"};
  for (int node = 0; node < 4; ++node)
    record.groups.push_back({{BurninPhase::groups, {node}}, "all_reduce", 1e9, 1e9});
  for (const NodeVerdict& verdict : attribute(record).nodes) EXPECT_EQ(verdict.bucket, Bucket::not_tested);
  EXPECT_THAT(burnin_text(record, 1000), testing::Not(HasSubstr("passes unseen")));
}

// Of 8 hosts and of 4, one of which died: too few of its kind are left to tell anything of them.
TEST(MixedFleet, AKindWithTooFewTimesHoldsBackItselfOnly) {
  BurninRecord record = made_burnin(12, 1, [](int, int, int) { return 1.0; });
  for (int node = 0; node < 12; ++node)
    record.gpu_models[record.table.nodes[slot_of(node)]] = {node < 8 ? "NVIDIA H100" : "NVIDIA A100"};
  lose_rail(record, 11, 0);
  record.expected = 1e9;
  const Attribution found = attribute(record);
  for (const NodeVerdict& verdict : found.nodes)
    EXPECT_EQ(verdict.bucket == Bucket::good, verdict.node < 8) << verdict.node << " " << verdict.why;
  const std::string text = burnin_text(record, 1000);
  EXPECT_THAT(text, HasSubstr("what takes less than 5.3 % longer"));
}

// Hosts without GPUs are a kind, too: through the host's memory they are slower, and sound.
TEST(MixedFleet, HostsWithoutGpusAreComparedWithEachOther) {
  BurninRecord record =
      made_burnin(9, 1, [](int from, int to, int) { return from >= 5 || to >= 5 ? 4.0 : 1.0; });
  for (int node = 0; node < 5; ++node) record.gpu_models[record.table.nodes[slot_of(node)]] = {"NVIDIA H100"};
  const Attribution found = attribute(record);
  EXPECT_TRUE(found.blames.empty());
  for (const NodeVerdict& verdict : found.nodes) EXPECT_NE(verdict.bucket, Bucket::bad) << verdict.why;
}

TEST(MixedFleet, APartKnowsWhichOfItsTimesAreOfAnEarlierRun) {
  BurninRecord record = made_burnin(6, 1, [](int, int, int) { return 1.0; });
  record.earlier_times = 10;
  const auto earlier = std::count_if(record.table.times.begin(), record.table.times.begin() + 10,
                                     [](const RailTime& time) { return time.from != 5 && time.to != 5; });
  EXPECT_EQ(std::ssize(record.table.times), 30);
  EXPECT_EQ(part_of(record, {0, 1, 2, 3, 4}).earlier_times, static_cast<std::size_t>(earlier));
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
  EXPECT_EQ(rates.all.size(), 2U * 2 * (8 * 7 / 2 + 5 * 4 / 2));
  EXPECT_NEAR(rates.covered, (8.0 * 7 + 5 * 4) / (16 * 15), 1e-9);
  EXPECT_TRUE(std::isnan(rates.effects.send[13][0]));
}

}  // namespace
}  // namespace collbench::analysis::mixed_fleet_test
