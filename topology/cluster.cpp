#include "topology/cluster.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "topology/cluster_summary.hpp"
#include "topology/topology_json.hpp"

namespace collbench {

Cluster cluster_record(const ClusterTopology& cluster) {
  // Keys in alphabetical order, as they come back from a record that was read. A host's name may hold any
  // bytes.
  return {.shapes = nlohmann::json(topology_to_json({cluster.shapes}))
                        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
          .nodes = cluster.nodes,
          .summary = cluster_summary(cluster)};
}

ClusterTopology read_cluster_record(const Cluster& record, std::string_view file) {
  ClusterTopology cluster{load_topology(record.shapes, file).hosts, record.nodes};
  for (const ClusterNode& node : cluster.nodes) {
    if (std::cmp_less(node.shape, cluster.shapes.size()) && node.shape >= 0) continue;
    throw usage_error(std::string(file),
                      fmt::format("node {} is of shape {}, and there are {} shapes", node.host, node.shape,
                                  cluster.shapes.size()),
                      "the record is damaged: measure again");
  }
  return cluster;
}

}  // namespace collbench
