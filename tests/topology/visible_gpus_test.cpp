#include "topology/visible_gpus.hpp"

#include <gmock/gmock.h>

namespace collbench::visible_gpus_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(VisibleGpus, FollowsCudasRules) {
  EXPECT_FALSE(visible_gpus(nullptr).has_value());
  EXPECT_THAT(*visible_gpus(""), IsEmpty());
  EXPECT_THAT(*visible_gpus("2,0"), ElementsAre("2", "0"));
  EXPECT_THAT(*visible_gpus("0, 1"), ElementsAre("0", "1"));
  EXPECT_THAT(*visible_gpus("0,-1,1"), ElementsAre("0"));
  EXPECT_THAT(*visible_gpus("none"), IsEmpty());
  EXPECT_THAT(*visible_gpus("NoDevFiles"), IsEmpty());
  EXPECT_THAT(*visible_gpus("GPU-1a2b,MIG-GPU-1a2b/1/0,MIG-5c"),
              ElementsAre("GPU-1a2b", "MIG-GPU-1a2b/1/0", "MIG-5c"));
}

TEST(VisibleGpus, TellsAnIndex) {
  EXPECT_TRUE(is_gpu_index("0"));
  EXPECT_FALSE(is_gpu_index("-1"));
  EXPECT_FALSE(is_gpu_index("GPU-0"));
}

}  // namespace
}  // namespace collbench::visible_gpus_test
