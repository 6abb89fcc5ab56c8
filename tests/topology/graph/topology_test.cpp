#include "topology/graph/topology.hpp"

#include <gtest/gtest.h>

namespace collbench::topology::topology_test {
namespace {

TEST(PathType, NamesGoBothWays) {
  for (int i = static_cast<int>(PathType::loc); i <= static_cast<int>(PathType::net); ++i) {
    const auto type = static_cast<PathType>(i);
    EXPECT_EQ(type, path_type_from_name(path_type_name(type)));
  }
  EXPECT_FALSE(path_type_from_name("DIS").has_value());
}

TEST(PathType, NvidiaSmiHasNoWordForPxn) {
  EXPECT_EQ("NODE", nvidia_smi_word(PathType::node));
  EXPECT_FALSE(nvidia_smi_word(PathType::pxn).has_value());
}

}  // namespace
}  // namespace collbench::topology::topology_test
