#include "base/record/nccl_told.hpp"

#include <gtest/gtest.h>

namespace collbench::nccl_told_test {
namespace {

const NcclTold kTold{.algorithm = "tree",
                     .protocol = "ll",
                     .channels = 2,
                     .expected = {{"ring", "ll", 3e-6}, {"tree", "ll", 2e-6}, {"tree", "simple", 1e-6}}};

TEST(NcclTold, ExpectsOfWhatItUsed) { EXPECT_EQ(nccl_expected_seconds(kTold), 2e-6); }

TEST(NcclTold, ExpectsTheCheapestWhereItDoesNotTellWhatItUsed) {
  NcclTold told = kTold;
  told.algorithm = told.protocol = "";
  EXPECT_EQ(nccl_expected_seconds(told), 1e-6);
}

TEST(NcclTold, ExpectsNothingOfWhatItsTableLacks) {
  NcclTold told = kTold;
  told.algorithm = "p2p";
  EXPECT_EQ(nccl_expected_seconds(told), std::nullopt);
  EXPECT_EQ(nccl_expected_seconds(NcclTold{}), std::nullopt);
}

TEST(AlgorithmRan, IsWhatWasAskedForWhenNcclUsedIt) {
  for (const char* asked : {"tree", "tree/ll", "auto/ll"}) EXPECT_EQ(algorithm_ran(asked, kTold), asked);
}

TEST(AlgorithmRan, IsWhatNcclUsedWhenItWasFreeOrTookAnother) {
  for (const char* asked : {"auto", "ring", "tree/simple", "auto/simple", "ring/ll"}) {
    EXPECT_EQ(algorithm_ran(asked, kTold), "tree/ll") << asked;
  }
}

TEST(AlgorithmRan, IsWhatWasAskedForWhenNcclDoesNotTell) {
  NcclTold told = kTold;
  told.algorithm = "p2p";
  told.protocol = "";
  EXPECT_EQ(algorithm_ran("auto", told), "auto");
}

}  // namespace
}  // namespace collbench::nccl_told_test
