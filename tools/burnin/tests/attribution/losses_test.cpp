#include "tools/burnin/attribution/blame.hpp"

#include <gmock/gmock.h>

#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Healthy times; of what is sent 0.02 % is sent again, and what `lost` says.
PairTable with_losses(const std::function<double(int, int, int)>& lost, int rails = 2) {
  PairTable table = made_pairs(5, rails, [](int, int, int) { return 1.0; });
  for (RailTime& time : table.times) time.resent = 2e-4 + lost(time.from, time.to, time.rail);
  return table;
}

Attribution judged(const PairTable& table) {
  Attribution found = attribute(table);
  judge_losses(table, found);
  return found;
}

TEST(Losses, WhoSendsIntoALinkThatLosesIsNamed) {
  const Attribution found =
      judged(with_losses([](int from, int, int rail) { return from == 3 && rail == 1 ? 0.01 : 0; }));
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::nic_transmit);
  EXPECT_EQ(found.blames[0].rail, 1);
  EXPECT_TRUE(found.blames[0].confirmed);
  EXPECT_THAT(found.blames[0].measure, HasSubstr("1 % of what it sends is sent again (line 0.1 %)"));
  for (const NodeVerdict& node : found.nodes)
    EXPECT_EQ(node.bucket, node.node == 3 ? Bucket::suspect : Bucket::good) << node.node;
}

TEST(Losses, OfReceivingAndOfBothAndOfTheOnlyRail) {
  const auto kind = [](const PairTable& table) {
    const Attribution found = judged(table);
    EXPECT_THAT(found.blames, SizeIs(1));
    return found.blames.empty() ? BlameKind::path : found.blames[0].kind;
  };
  EXPECT_EQ(kind(with_losses([](int, int to, int rail) { return to == 0 && rail == 0 ? 0.01 : 0; })),
            BlameKind::nic_receive);
  const auto both = [](int from, int to, int rail) { return (from == 2 || to == 2) && rail == 0 ? 0.01 : 0; };
  EXPECT_EQ(kind(with_losses(both)), BlameKind::nic);
  EXPECT_EQ(kind(with_losses(both, 1)), BlameKind::node);
}

TEST(Losses, OnePairOrAllHostsOrNothingMeasuredNamesNobody) {
  EXPECT_THAT(
      judged(with_losses([](int from, int to, int) { return from == 1 && to == 2 ? 0.05 : 0; })).blames,
      IsEmpty());
  EXPECT_THAT(judged(with_losses([](int, int, int) { return 0.02; })).blames, IsEmpty());
  EXPECT_THAT(judged(made_pairs(5, 2, [](int, int, int) { return 1.0; })).blames, IsEmpty());
}

TEST(Losses, WhoIsNamedAlreadyIsNotNamedTwice) {
  PairTable table =
      made_pairs(5, 2, [](int from, int, int rail) { return from == 3 && rail == 1 ? 2.0 : 1; });
  for (RailTime& time : table.times) time.resent = time.from == 3 && time.rail == 1 ? 0.02 : 0;
  EXPECT_THAT(judged(table).blames, SizeIs(1));
}

}  // namespace
}  // namespace collbench::analysis
