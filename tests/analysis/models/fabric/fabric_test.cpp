#include "analysis/models/fabric/fabric.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"

namespace collbench::analysis::fabric_test {
namespace {

Fabric fabric_of(const char* text) { return parse_fabric(text, "--fabric"); }

TEST(Fabric, EveryWordIsRead) {
  const Fabric fabric =
      fabric_of("fat-tree,leaf=32,oversubscription=2.5,routing=ecmp,flows=4,placement=random,sharp");
  EXPECT_EQ(fabric, (Fabric{FabricKind::fat_tree, 32, 2.5, Routing::ecmp, 4, false, true}));
  EXPECT_EQ(fabric_of("sharp"), Fabric{.sharp = true});
  EXPECT_EQ(fabric_of("rail-only").kind, FabricKind::rail_only);
}

TEST(Fabric, AWordThatIsNotKnownIsRefusedWithAllThatAre) {
  for (const char* text :
       {"", "mesh", "fat-tree,leaf=0", "fat-tree,leaf=2.5", "fat-tree,leaf=", "leaf=32",
        "fat-tree,routing=fast", "fat-tree,oversubscription=0.5", "fat-tree,flows=2", "fat-tree,leaf=nan",
        "fat-tree,", "fat-tree,placement=sorted", "fat-tree,leaf=4,leaf=8", "fat-tree,rail-only",
        "fat-tree,sharp,sharp", "fat-tree,routing=ecmp,routing=static"}) {
    EXPECT_THROW((void)fabric_of(text), Error) << text;
  }
}

// The expected slowest of n flows on n links by Monte Carlo: 1/2.58, 1/3.08, 1/3.54, 1/3.96. Bins as
// independent Poisson variables come within 3 % of it.
TEST(Fabric, TheSlowestOfHashedFlows) {
  EXPECT_NEAR(slowest_hashed_share(8, 8, 1) * 2.58, 1, 0.03);
  EXPECT_NEAR(slowest_hashed_share(16, 16, 1) * 3.08, 1, 0.03);
  EXPECT_NEAR(slowest_hashed_share(32, 32, 1) * 3.54, 1, 0.03);
  EXPECT_NEAR(slowest_hashed_share(64, 64, 1) * 3.96, 1, 0.03);
  EXPECT_NEAR(slowest_hashed_share(32, 32, 16), 0.65, 0.02);
  // More parts are more even, and one flow meets nobody.
  EXPECT_GT(slowest_hashed_share(32, 32, 8), slowest_hashed_share(32, 32, 4));
  EXPECT_DOUBLE_EQ(slowest_hashed_share(1, 32, 1), 1);
  EXPECT_NEAR(slowest_hashed_share(32, 32, 1000), 1 / (1 + std::sqrt(2 * std::log(32.0) / 1000)), 1e-12);
}

TEST(Fabric, ARingInTheOrderOfTheLeavesLosesNothingUpToAsManyToOneAsALeafHasNodes) {
  EXPECT_DOUBLE_EQ(neighbor_share(fabric_of("fat-tree,leaf=16,oversubscription=16"), 64, 8), 1);
  EXPECT_DOUBLE_EQ(neighbor_share(fabric_of("fat-tree,leaf=16,oversubscription=32"), 64, 8), 0.5);
  EXPECT_DOUBLE_EQ(neighbor_share(fabric_of("rail-optimized,leaf=16,routing=ecmp"), 64, 8), 1);
}

// (N − L)/(N − 1) of the hops leave: 48 of 63.
TEST(Fabric, ARingByChanceSharesTheUplinks) {
  const double part = 48.0 / 63;
  EXPECT_DOUBLE_EQ(neighbor_share(fabric_of("fat-tree,leaf=16,oversubscription=2,placement=random"), 64, 8),
                   1 / (2 * part));
  EXPECT_DOUBLE_EQ(neighbor_share(fabric_of("fat-tree,leaf=16,routing=static,placement=random"), 64, 8),
                   0.575 / part);
  EXPECT_DOUBLE_EQ(neighbor_share(fabric_of("fat-tree,leaf=16,placement=random"), 64, 8), 1);
  EXPECT_DOUBLE_EQ(neighbor_share(fabric_of("fat-tree,leaf=64,oversubscription=4,placement=random"), 64, 8),
                   1);
}

TEST(Fabric, WithoutALeafASwitchOf64PortsIsAssumed) {
  EXPECT_EQ(leaf_nodes(fabric_of("fat-tree"), 8), 4);
  EXPECT_EQ(leaf_nodes(fabric_of("rail-optimized"), 8), 32);
  EXPECT_EQ(leaf_nodes(fabric_of("fat-tree,leaf=20"), 8), 20);
  EXPECT_NE(words(fabric_of("fat-tree")).find("assumed"), std::string::npos);
}

TEST(Fabric, AnExchangeWithoutPxnCrossesTheRails) {
  const Fabric rails = fabric_of("rail-optimized,leaf=16,oversubscription=4");
  EXPECT_DOUBLE_EQ(exchange_share(rails, 16, 8, 8, true), 1);
  EXPECT_DOUBLE_EQ(exchange_share(rails, 16, 8, 8, false), 1 / (4 * 7.0 / 8));
  EXPECT_DOUBLE_EQ(exchange_share(rails, 64, 8, 8, true), 1 / (4 * 48.0 / 63));
  EXPECT_DOUBLE_EQ(exchange_share({}, 64, 8, 8, false), 1);
}

// One cluster below all leaves is a job of one group: 16 nodes below a leaf, of which one sends out of it.
TEST(LeafLoad, OfOneGroupIsTheClusters) {
  for (const char* text :
       {"fat-tree,leaf=16,oversubscription=32", "rail-optimized,leaf=16,routing=ecmp,flows=2",
        "fat-tree,leaf=16,oversubscription=4,routing=static"}) {
    const Fabric fabric = fabric_of(text);
    EXPECT_DOUBLE_EQ(neighbor_share(fabric, {.ring = 1, .exchange = 0, .domains = 16}, 8),
                     neighbor_share(fabric, 64, 8));
    const double outside = 48.0 / 63;
    EXPECT_DOUBLE_EQ(
        exchange_share(fabric, {.ring = 0, .exchange = 16 * outside, .domains = 16}, 8, outside * 64),
        exchange_share(fabric, 64, 8, 1, true));
  }
  EXPECT_DOUBLE_EQ(neighbor_share(Fabric{}, {.ring = 1e9, .exchange = 0, .domains = 1}, 8), 1);
}

}  // namespace
}  // namespace collbench::analysis::fabric_test
