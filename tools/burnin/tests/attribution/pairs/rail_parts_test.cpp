#include "tools/burnin/attribution/pairs/rail_parts.hpp"

#include <gmock/gmock.h>

#include "tools/burnin/attribution/blame.hpp"
#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Six hosts whose pairs scatter by up to 40 %, so that nobody is beyond the line; n2 is slow by a ninth.
PairTable scattered(bool sends_only = false, bool all_rails = false) {
  std::uint64_t counter = 3;
  return made_pairs(6, 2, [&, sends_only, all_rails](int a, int b, int rail) {
    const double scatter = 1 + 0.4 * static_cast<double>(scrambled(counter++) % 1000) / 1000 *
                                   static_cast<double>((a + b + rail) % 2);
    const bool is_slow = (rail == 1 || all_rails) && (a == 2 || (b == 2 && !sends_only));
    return scatter * (is_slow ? 1 / 0.9 : 1);
  });
}

constexpr double kExpected = 1e-3;  // what made_pairs takes

TEST(RailParts, WhoFallsShortOfWhatIsExpectedIsSlowWhereTheScatterHidesIt) {
  const PairTable table = scattered();
  const PairEffects effects = pair_effects(table);
  const std::vector<RailParts> unknown = rail_parts(table, effects, 0);
  const std::vector<RailParts> known = rail_parts(table, effects, kExpected);
  for (int node = 0; node < 6; ++node) {
    EXPECT_FALSE(unknown[1].slow(node)) << node;
    EXPECT_FALSE(known[0].slow(node)) << node;
    EXPECT_EQ(known[1].slow(node), node == 2) << node;
  }
  EXPECT_TRUE(known[1].only_short(2));
}

TEST(RailParts, WhatIsExpectedNamesTheNicItsDirectionOrTheHost) {
  const auto named = [](const PairTable& table) {
    const Attribution found = attribute(table, kExpected);
    EXPECT_THAT(found.blames, SizeIs(1));
    return found.blames.empty() ? Blame{} : found.blames.front();
  };
  const Blame nic = named(scattered());
  EXPECT_EQ(nic.kind, BlameKind::nic);
  EXPECT_EQ(nic.rail, 1);
  EXPECT_TRUE(nic.against_expected);
  EXPECT_NEAR(nic.times_slower, 1 / 0.9, 0.01);
  EXPECT_THAT(nic.evidence, HasSubstr("makes 90."));
  EXPECT_EQ(named(scattered(true)).kind, BlameKind::nic_transmit);
  EXPECT_EQ(named(scattered(false, true)).kind, BlameKind::host);
}

TEST(RailParts, WhereTheQuickestPairsScatterNobodyFallsShortOfThem) {
  // Three of five make what is expected, by 1 to 5 %; one is 8 %, one 11 % short.
  const std::vector<double> share{0.99, 1.04, 0.96, 1.08, 1.11};
  const PairTable table = made_pairs(
      5, 1, [&share](int a, int b, int) { return std::max(share[slot_of(a)], share[slot_of(b)]); });
  for (const RailParts& rail : rail_parts(table, pair_effects(table), kExpected))
    EXPECT_THAT(rail.send.short_of_expected, IsEmpty());
}

TEST(RailParts, WhereHardlyAnybodyMakesItNobodyFallsShort) {
  const PairTable table = made_pairs(6, 1, [](int a, int b, int) { return a == 2 || b == 2 ? 1.5 : 1.2; });
  for (const RailParts& rail : rail_parts(table, pair_effects(table), kExpected))
    EXPECT_THAT(rail.send.short_of_expected, IsEmpty());
}

TEST(RailParts, OfThreeRailsOneIsSlow) {
  const auto slow = [](int rails) {
    const PairTable table = made_pairs(5, rails, [](int, int, int rail) { return rail == 1 ? 1.5 : 1; });
    return slow_rails(pair_effects(table), rails);
  };
  EXPECT_THAT(slow(2), IsEmpty());
  ASSERT_THAT(slow(3), SizeIs(1));
  EXPECT_EQ(slow(3)[0].rail, 1);
}

}  // namespace
}  // namespace collbench::analysis
