#include "collectives/nccl/algorithm_override.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace collbench::collectives::algorithm_override_test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(AlgorithmOverride, NamesAreThoseThatNcclHasForTheOperation) {
  const auto names = [](OperationId id) { return override_names(id, OverrideBy::communicator); };
  EXPECT_THAT(names(OperationId::all_reduce), Contains("tree"));
  EXPECT_THAT(names(OperationId::all_reduce), Contains("auto/ll128"));
  EXPECT_THAT(names(OperationId::all_reduce), Not(Contains("pat")));
  EXPECT_THAT(names(OperationId::all_gather), Contains("pat/simple"));
  EXPECT_THAT(names(OperationId::all_gather), Not(Contains("tree")));
  EXPECT_THAT(names(OperationId::all_to_all), IsEmpty());
}

TEST(AlgorithmOverride, OnlyACallAsksForSymmetricKernelsWhichHaveNoProtocols) {
  EXPECT_TRUE(has_override(OperationId::all_reduce, OverrideBy::call, "symmetric/8"));
  EXPECT_FALSE(has_override(OperationId::all_reduce, OverrideBy::call, "symmetric/ll"));
  EXPECT_FALSE(has_override(OperationId::all_reduce, OverrideBy::communicator, "symmetric"));
}

TEST(AlgorithmOverride, CtasAreForEachNameOfTheOperation) {
  for (const char* name : {"auto/1", "ring/64", "ring/ll128/8", "auto/simple/8"})
    EXPECT_TRUE(has_override(OperationId::all_reduce, OverrideBy::communicator, name)) << name;
  for (const char* name : {"ring/0", "ring/65", "warp/8", "ring/8/ll", "ring/8/8"})
    EXPECT_FALSE(has_override(OperationId::all_reduce, OverrideBy::communicator, name)) << name;
  EXPECT_FALSE(has_override(OperationId::all_to_all, OverrideBy::call, "auto/8"));
}

TEST(AlgorithmOverride, IsInNcclsOwnWords) {
  EXPECT_EQ(algorithm_override("nvls_tree"), (AlgorithmOverride{"NVLSTree", "", "NVLSTREE_", 0}));
  EXPECT_EQ(algorithm_override("nvls/8"), (AlgorithmOverride{"NVLS", "", "NVLS_", 8}));
  EXPECT_EQ(algorithm_override("ring/ll128"), (AlgorithmOverride{"Ring", "LL128", "RING_LL128", 0}));
  EXPECT_EQ(algorithm_override("ring/ll/2"), (AlgorithmOverride{"Ring", "LL", "RING_LL+^RING_LL128", 2}));
  EXPECT_EQ(algorithm_override("auto/ll128"), (AlgorithmOverride{"", "LL128", "RING_LL128,TREE_LL128", 0}));
  EXPECT_EQ(algorithm_override("auto/simple"),
            (AlgorithmOverride{"", "Simple",
                               "RING_SIMPLE,TREE_SIMPLE,NVLS_SIMPLE,NVLSTREE_SIMPLE,COLLNET_DIRECT_SIMPLE,"
                               "COLLNET_CHAIN_SIMPLE,PAT_SIMPLE",
                               0}));
  EXPECT_EQ(algorithm_override("auto/8"), (AlgorithmOverride{"", "", "", 8}));
  EXPECT_EQ(algorithm_override("symmetric"), (AlgorithmOverride{"", "", "SYMK_", 0}));
  for (const char* none : {"auto", "warp", "ring/warp", "", "/"})
    EXPECT_FALSE(algorithm_override(none)) << none;
}

TEST(AlgorithmOverride, EveryNameHasAChoice) {
  for (const OperationId id : {OperationId::all_reduce, OperationId::all_gather}) {
    for (const std::string& name : override_names(id, OverrideBy::call))
      EXPECT_TRUE(algorithm_override(name)) << name;
  }
}

TEST(ScopedEnvironment, LeavesWhatWasThere) {
  ::setenv("NCCL_ALGO", "^Tree", 1);
  ::unsetenv("NCCL_PROTO");
  {
    const ScopedEnvironment forced({"Ring", "LL", "", 0});
    EXPECT_STREQ(::getenv("NCCL_ALGO"), "Ring");
    EXPECT_STREQ(::getenv("NCCL_PROTO"), "LL");
  }
  EXPECT_STREQ(::getenv("NCCL_ALGO"), "^Tree");
  EXPECT_EQ(::getenv("NCCL_PROTO"), nullptr);
  ::unsetenv("NCCL_ALGO");
}

}  // namespace
}  // namespace collbench::collectives::algorithm_override_test
