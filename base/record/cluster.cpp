#include "base/record/cluster.hpp"

#include "base/record/fields.hpp"

namespace collbench {
static void each_field(auto& visit, Either<ClusterNode> auto& node) {
  visit("host", node.host, RankHost{});
  visit("shape", node.shape);
  visit("identity", node.identity);
}

static void each_field(auto& visit, Either<PlacedRank> auto& placed) {
  visit("rank", placed.rank);
  visit("gpu", placed.gpu);
  visit("gpu_address", placed.gpu_address);
  visit("nic", placed.nic);
  visit("numa_node", placed.numa_node);
  visit("guess", placed.guess);
  visit("note", placed.note);
}

namespace {

Json shapes_to_json(const std::string& shapes) {
  const Json json = Json::parse(shapes, nullptr, false);
  return json.is_discarded() ? Json(nullptr) : json;
}

std::string shapes_from_json(const JsonReader& json) { return json.compact(); }

}  // namespace

static void each_field(auto& visit, Either<Cluster> auto& cluster) {
  visit("summary", cluster.summary);
  visit("nodes", cluster.nodes);
  visit("placement", cluster.placement);
  visit("shapes", cluster.shapes, By{shapes_to_json, shapes_from_json});
}

Json cluster_to_json(const Cluster& cluster) { return record_to_json(cluster); }

Cluster cluster_from_json(const JsonReader& json) { return record_from_json<Cluster>(json); }

}  // namespace collbench
