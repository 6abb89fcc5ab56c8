#include "topology/node_host.hpp"

#include <gtest/gtest.h>

#include "topology/reference_machines.hpp"
#include "topology/shape_hash.hpp"

namespace collbench::node_host_test {
namespace {

/// hgx-h100 as one of several twins.
Host twin(const std::string& name) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  host.name.value = name;
  for (std::size_t i = 0; i < host.gpus.size(); ++i)
    host.gpus[i].uuid.value = "GPU-" + name + std::to_string(i);
  for (std::size_t i = 0; i < host.nics.size(); ++i) {
    host.nics[i].name.value = name + "_mlx5_" + std::to_string(i);
    host.nics[i].ports.at(0).gid.value = "fe80::" + name + std::to_string(i);
  }
  return host;
}

ClusterTopology cluster_of(const Host& first, const Host& second) {
  return {{first}, {{"a", 0, host_facts(first).identity}, {"b", 0, host_facts(second).identity}}};
}

TEST(NodeHost, IsTheShapeUnderItsOwnNames) {
  const ClusterTopology cluster = cluster_of(twin("a"), twin("b"));
  EXPECT_EQ(node_host(cluster, 0), twin("a"));
  EXPECT_EQ(node_host(cluster, 1), twin("b"));
}

TEST(NodeHost, HasNoNameOfTheFirstNodeWhereItHasNone) {
  Host second = twin("b");
  second.gpus[2].uuid.value.reset();
  EXPECT_FALSE(node_host(cluster_of(twin("a"), second), 1).gpus[2].uuid.known());
}

TEST(NodeHost, ThrowsForANodeThatIsNotThere) {
  EXPECT_THROW(static_cast<void>(node_host(cluster_of(twin("a"), twin("b")), 2)), std::out_of_range);
}

}  // namespace
}  // namespace collbench::node_host_test
