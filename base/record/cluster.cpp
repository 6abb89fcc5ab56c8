#include "base/record/cluster.hpp"

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

Json placed_to_json(const PlacedRank& placed) {
  return {{"rank", placed.rank},
          {"gpu", placed.gpu},
          {"gpu_address", placed.gpu_address},
          {"nic", placed.nic},
          {"numa_node", or_null(placed.numa_node)},
          {"guess", placed.guess},
          {"note", placed.note}};
}

PlacedRank placed_from_json(const JsonReader& json) {
  PlacedRank placed{.rank = json.at("rank").integer<int>(),
                    .gpu = json.at("gpu").text(),
                    .gpu_address = json.at("gpu_address").text(),
                    .nic = json.at("nic").text(),
                    .numa_node = std::nullopt,
                    .guess = json.at("guess").boolean(),
                    .note = json.at("note").text()};
  if (const auto node = json.find("numa_node")) placed.numa_node = node->integer<int>();
  return placed;
}

}  // namespace

Json cluster_to_json(const Cluster& cluster) {
  Json nodes = Json::array();
  for (const ClusterNode& node : cluster.nodes) {
    nodes.push_back({{"host", node.host}, {"shape", node.shape}, {"identity", Json(node.identity)}});
  }
  Json placement = Json::array();
  for (const PlacedRank& placed : cluster.placement) placement.push_back(placed_to_json(placed));
  const Json shapes = Json::parse(cluster.shapes, nullptr, false);
  return {{"summary", cluster.summary},
          {"nodes", std::move(nodes)},
          {"placement", std::move(placement)},
          {"shapes", shapes.is_discarded() ? Json(nullptr) : shapes}};
}

Cluster cluster_from_json(const JsonReader& json) {
  Cluster cluster;
  for (const JsonReader& line : json.at("summary").items()) cluster.summary.push_back(line.text());
  for (const JsonReader& node : json.at("nodes").items()) {
    cluster.nodes.push_back({rank_host_from_json(node.at("host")), node.at("shape").integer<int>(),
                             facts_of(node.at("identity"))});
  }
  for (const JsonReader& placed : json.at("placement").items())
    cluster.placement.push_back(placed_from_json(placed));
  cluster.shapes = json.at("shapes").compact();
  return cluster;
}

}  // namespace collbench
