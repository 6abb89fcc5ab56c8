#include "topology/readers/readers.hpp"

#include <gtest/gtest.h>

#include "tests/topology/foreign_leaks.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology::live_test {
namespace {

TEST(HwlocLive, SeesThisMachine) {
  const ForeignLeaks foreign;
  const Host host = read_hwloc_live();
  EXPECT_FALSE(host.numa_nodes.empty());
  EXPECT_FALSE(host.numa_nodes.at(0).cpus.value_or("").empty());
  EXPECT_EQ("libhwloc", host.sources.at(0).reader);
  EXPECT_NE(std::string::npos, host.sources[0].version.find('.'));
  EXPECT_EQ("", find_inconsistency(host));
}

}  // namespace
}  // namespace collbench::topology::live_test
