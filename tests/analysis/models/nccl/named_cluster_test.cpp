#include "analysis/models/nccl/named_cluster.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/source_folder.hpp"

namespace collbench::analysis::named_cluster_test {
namespace {

TEST(NamedCluster, IsAReferenceMachineOrAFile) {
  EXPECT_EQ(named_gpu_cluster("hgx-h100", 2, 0), cluster_of("hgx-h100", 2));
  EXPECT_THROW((void)named_gpu_cluster("hgx-h1000", 2, 0), Error);
  const std::string file = source_folder() + "/CMakeLists.txt";
  EXPECT_THROW((void)named_gpu_cluster(file, 1, 0), Error);
}

}  // namespace
}  // namespace collbench::analysis::named_cluster_test
