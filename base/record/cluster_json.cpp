#include "base/record/cluster_json.hpp"

#include <utility>

namespace collbench {
namespace {

FactsByDevice facts_of(const JsonReader& json) {
  FactsByDevice facts;
  for (const auto& [device, attributes] : json.members()) {
    for (const auto& [name, value] : attributes.members()) facts[device][name] = value.text();
  }
  return facts;
}

}  // namespace

Json cluster_to_json(const Cluster& cluster) {
  Json nodes = Json::array();
  for (const ClusterNode& node : cluster.nodes) {
    nodes.push_back({{"host", node.host}, {"shape", node.shape}, {"identity", Json(node.identity)}});
  }
  const Json shapes = Json::parse(cluster.shapes, nullptr, false);
  return {{"summary", cluster.summary},
          {"nodes", std::move(nodes)},
          {"shapes", shapes.is_discarded() ? Json(nullptr) : shapes}};
}

Cluster cluster_from_json(const JsonReader& json) {
  Cluster cluster;
  for (const JsonReader& line : json.at("summary").items()) cluster.summary.push_back(line.text());
  for (const JsonReader& node : json.at("nodes").items()) {
    cluster.nodes.push_back(
        {node.at("host").text(), node.at("shape").integer<int>(), facts_of(node.at("identity"))});
  }
  cluster.shapes = json.at("shapes").compact();
  return cluster;
}

}  // namespace collbench
