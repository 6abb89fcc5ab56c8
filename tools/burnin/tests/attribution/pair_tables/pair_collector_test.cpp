#include "tools/burnin/attribution/pair_tables/pair_collector.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

using ::testing::SizeIs;

/// n0 to n3, each pair from the lower to the higher number.
PairCollector one_way() {
  PairCollector pairs("f");
  for (int node = 0; node < 4; ++node) (void)pairs.node("n" + std::to_string(node), 1);
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) pairs.add(a, b, 0, "48", 1e9, 1);
  }
  return pairs;
}

TEST(PairCollector, KnowsWhichDirectionsThereAre) {
  PairCollector pairs = one_way();
  EXPECT_EQ(pairs.directions(), PairCollector::Directions::one_each);
  pairs.add(1, 0, 0, "48", 1e9, 2);
  EXPECT_EQ(pairs.directions(), PairCollector::Directions::mixed);
  for (const auto& [a, b] :
       {std::pair(2, 0), std::pair(3, 0), std::pair(2, 1), std::pair(3, 1), std::pair(3, 2)})
    pairs.add(a, b, 0, "48", 1e9, 3);
  EXPECT_EQ(pairs.directions(), PairCollector::Directions::both);
}

TEST(PairCollector, MirrorsWhatHasOneDirectionOnly) {
  PairCollector pairs = one_way();
  pairs.add(1, 0, 0, "24", 1e9, 2);
  EXPECT_THAT(pairs.record(true, "").table.times, SizeIs(12));
  EXPECT_THAT(one_way().record(false, "").table.times, SizeIs(6));
}

TEST(PairCollector, WordsOfFailureAndOfNothing) {
  PairCollector pairs = one_way();
  pairs.add(0, 1, 0, "-", 1e9, 2);
  pairs.add(0, 1, 0, "Timeout", 1e9, 3);
  pairs.add(0, 1, 0, "0", 1e9, 4);
  EXPECT_THAT(pairs.record(false, "").failures, SizeIs(1));  // one of a pair
  EXPECT_THROW(pairs.add(0, 1, 0, "1e300", 1e9, 5), Error);
  EXPECT_THROW(pairs.add(0, 1, 0, "48 GB/s", 1e9, 5), Error);
  EXPECT_THROW((void)pairs.node("two words", 5), Error);
}

TEST(PairCollector, NodesThatNoPairJoinsAreRefusedAndAFailedPairJoins) {
  PairCollector pairs = one_way();
  const int other = pairs.node("m0", 9);
  EXPECT_THAT(PairCollector(pairs).record(false, "").table.nodes, SizeIs(5));  // not measured, and no reason
  pairs.add(other, pairs.node("m1", 9), 0, "48", 1e9, 9);
  EXPECT_THROW((void)pairs.record(false, ""), Error);
  pairs.add(0, other, 0, "x", 1e9, 10);
  EXPECT_NO_THROW((void)pairs.record(false, ""));
}

}  // namespace
}  // namespace collbench::analysis
