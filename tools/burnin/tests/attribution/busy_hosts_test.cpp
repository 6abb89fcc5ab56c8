#include "tools/burnin/attribution/blame.hpp"

#include <gmock/gmock.h>

#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// n2 is slow with everybody, by another factor each time, and waits for a core.
BurninRecord burned_in(double n2_waits, double others_wait) {
  BurninRecord record;
  record.bytes = 1e6;
  std::uint64_t counter = 5;
  record.table = made_pairs(6, 2, [&counter](int a, int b, int) {
    return a == 2 || b == 2 ? 1.5 + static_cast<double>(scrambled(counter++) % 1000) / 100 : 1;
  });
  for (RailTime& time : record.table.times) time.waited = time.from == 2 ? n2_waits : others_wait;
  return record;
}

TEST(BusyHosts, WhoseRanksWaitForACoreIsBusyAndNobodyElseIsInDoubt) {
  const Attribution found = attribute(burned_in(0.9, 0.1));
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::busy);
  EXPECT_THAT(found.blames[0].evidence,
              HasSubstr("in 10 launches its ranks had a core for 10 % of the time in which "
                        "they could run, those of the median host for 90 %"));
  for (const NodeVerdict& node : found.nodes)
    EXPECT_EQ(node.bucket, node.node == 2 ? Bucket::suspect : Bucket::good) << node.node << node.why;
  EXPECT_THAT(found.nodes[2].why, HasSubstr("busy: other programs keep the cores of n2 busy"));
  EXPECT_THAT(retests_of(burned_in(0.9, 0.1)), IsEmpty());
  EXPECT_THAT(burnin_text(burned_in(0.9, 0.1), 400),
              HasSubstr("busy host, its ranks had a core for 10 % of the time "
                        "in which they could run: other"));
}

TEST(BusyHosts, WhereAllWaitAlikeOrLittleItIsNoHost) {
  EXPECT_THAT(busy_hosts(burned_in(0.7, 0.6).table), IsEmpty());
  EXPECT_THAT(busy_hosts(burned_in(0.3, 0.01).table), IsEmpty());
  EXPECT_THAT(busy_hosts(burned_in(0.6, 0.1).table), SizeIs(1));
}

TEST(BusyHosts, OfThreeNobodyKnowsWhatIsUsual) {
  PairTable table = burned_in(0.9, 0.1).table;
  for (RailTime& time : table.times)
    if (time.from > 2) time.waited.reset();
  EXPECT_THAT(busy_hosts(table), IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis
