#include "topology/cluster.hpp"

#include <gmock/gmock.h>

#include "tests/topology/refusal.hpp"
#include "topology/reference_machines.hpp"

namespace collbench::cluster_test {
namespace {

ClusterTopology two_nodes() {
  return {{reference_host(*find_reference_machine("hgx-h100"))},
          {{"n1", 0, {}}, {"n2", 0, {{"GPU 0000:18:00.0", {{"uuid", "GPU-1"}}}}}}};
}

TEST(ClusterRecord, GivesTheClusterBack) {
  const ClusterTopology cluster = two_nodes();
  const Cluster record = cluster_record(cluster);
  EXPECT_EQ(record.summary.size(), 3U);
  const ClusterTopology again = read_cluster_record(record, "run.json");
  EXPECT_EQ(again.shapes, cluster.shapes);
  EXPECT_EQ(again.nodes, cluster.nodes);
}

TEST(ClusterRecord, RefusesANodeOfNoShape) {
  Cluster record = cluster_record(two_nodes());
  record.nodes[1].shape = 1;
  EXPECT_THAT(refusal([&] { static_cast<void>(read_cluster_record(record, "run.json")); }),
              testing::HasSubstr("run.json: node n2 is of shape 1, and there are 1 shapes"));
}

}  // namespace
}  // namespace collbench::cluster_test
