#include "base/record/nccl_told.hpp"

#include <gtest/gtest.h>

namespace collbench {
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

}  // namespace
}  // namespace collbench
