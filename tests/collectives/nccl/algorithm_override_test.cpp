#include "collectives/nccl/algorithm_override.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace collbench::collectives::algorithm_override_test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(AlgorithmOverride, NamesAreThoseThatNcclHasForTheOperation) {
  EXPECT_THAT(override_names(OperationId::all_reduce), Contains("tree"));
  EXPECT_THAT(override_names(OperationId::all_reduce), Contains("auto/ll128"));
  EXPECT_THAT(override_names(OperationId::all_reduce), Not(Contains("pat")));
  EXPECT_THAT(override_names(OperationId::all_gather), Contains("pat/simple"));
  EXPECT_THAT(override_names(OperationId::all_gather), Not(Contains("tree")));
  EXPECT_THAT(override_names(OperationId::all_to_all), IsEmpty());
}

TEST(AlgorithmOverride, IsInNcclsOwnWords) {
  EXPECT_EQ(algorithm_override("nvls_tree"), (AlgorithmOverride{"NVLSTree", ""}));
  EXPECT_EQ(algorithm_override("ring/ll128"), (AlgorithmOverride{"Ring", "LL128"}));
  EXPECT_EQ(algorithm_override("auto/simple"), (AlgorithmOverride{"", "Simple"}));
  for (const char* none : {"auto", "warp", "ring/warp", "", "/"})
    EXPECT_FALSE(algorithm_override(none)) << none;
}

TEST(AlgorithmOverride, EveryNameHasAChoice) {
  for (const OperationId id : {OperationId::all_reduce, OperationId::all_gather}) {
    for (const std::string& name : override_names(id)) EXPECT_TRUE(algorithm_override(name)) << name;
  }
}

TEST(ScopedEnvironment, LeavesWhatWasThere) {
  ::setenv("NCCL_ALGO", "^Tree", 1);
  ::unsetenv("NCCL_PROTO");
  {
    const ScopedEnvironment forced({"Ring", "LL"});
    EXPECT_STREQ(::getenv("NCCL_ALGO"), "Ring");
    EXPECT_STREQ(::getenv("NCCL_PROTO"), "LL");
  }
  EXPECT_STREQ(::getenv("NCCL_ALGO"), "^Tree");
  EXPECT_EQ(::getenv("NCCL_PROTO"), nullptr);
  ::unsetenv("NCCL_ALGO");
}

}  // namespace
}  // namespace collbench::collectives::algorithm_override_test
