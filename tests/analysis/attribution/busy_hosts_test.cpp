#include "analysis/attribution/busy_hosts.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/attribution/made_pairs.hpp"

namespace collbench::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Attribution judged(PairTable table, double busy, double usual) {
  for (RailTime& time : table.times) time.waited = time.from == 2 ? busy : usual;
  Attribution found = attribute(table);
  judge_busy_hosts(table, found);
  return found;
}

PairTable slow_two() {
  return made_pairs(5, 2, [](int a, int b, int) { return a == 2 || b == 2 ? 1.5 : 1; });
}

TEST(BusyHosts, WhoseRanksWaitForACoreIsBusyAndNoLinkOfItsIsToBlame) {
  const Attribution found = judged(slow_two(), 0.9, 0.1);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::busy);
  EXPECT_TRUE(found.blames[0].confirmed);
  EXPECT_THAT(found.blames[0].evidence,
              HasSubstr("a core for 10 % of the time in which they could run, those of "
                        "the median host for 90 %"));
  for (const NodeVerdict& node : found.nodes)
    EXPECT_EQ(node.bucket, node.node == 2 ? Bucket::suspect : Bucket::good) << node.node;
}

TEST(BusyHosts, WhereAllWaitAlikeItIsNoHost) {
  ASSERT_THAT(judged(slow_two(), 0.7, 0.6).blames, SizeIs(1));
  EXPECT_EQ(judged(slow_two(), 0.7, 0.6).blames[0].kind, BlameKind::host);
  EXPECT_THAT(judged(made_pairs(5, 2, [](int, int, int) { return 1.0; }), 0.3, 0.01).blames, IsEmpty());
}

TEST(BusyHosts, APathThatEndsThereIsTakenBack) {
  const PairTable table = made_pairs(
      5, 2, [](int a, int b, int rail) { return rail == 0 && a + b == 5 && a * b == 6 ? 1.5 : 1; });
  EXPECT_EQ(attribute(table).nodes[3].bucket, Bucket::suspect);
  const Attribution found = judged(table, 0.9, 0.1);
  EXPECT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.nodes[3].bucket, Bucket::good);
}

}  // namespace
}  // namespace collbench::analysis
