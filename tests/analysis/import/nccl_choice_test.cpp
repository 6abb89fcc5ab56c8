#include "analysis/import/nccl_choice.hpp"

#include <gtest/gtest.h>

namespace collbench::analysis {
namespace {

TEST(NcclChoiceInALine, ByNamesWithItsChannels) {
  EXPECT_EQ(nccl_choice_in("AllReduce: 1048576 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={0..15}"),
            (NcclLoggedChoice{"nvls_tree", "simple", 16, std::nullopt}));
  EXPECT_EQ(nccl_choice_in("AllReduce: 8 Bytes -> Algo TREE proto LL channel{Lo..Hi}={7..3}"),
            (NcclLoggedChoice{"tree", "ll", 0, std::nullopt}));
}

TEST(NcclChoiceInALine, ByNumbersWithItsTime) {
  const auto old = nccl_choice_in("1048576 Bytes -> Algo 2 proto 1 time 40.500000");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->algorithm, "collnet_direct");
  EXPECT_EQ(old->protocol, "ll128");
  EXPECT_DOUBLE_EQ(old->expected_seconds.value_or(0), 40.5e-6);
}

TEST(NcclChoiceInALine, AnotherLineHasNone) {
  EXPECT_FALSE(nccl_choice_in("Ring 00 : 2 -> 0 -> 1"));
  EXPECT_FALSE(nccl_choice_in("7 Bytes -> Algo"));
}

}  // namespace
}  // namespace collbench::analysis
