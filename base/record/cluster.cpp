#include "base/record/cluster.hpp"

namespace collbench {
namespace {

FactsByDevice facts_of(const JsonReader& json) {
  FactsByDevice facts;
  for (const auto& [device, attributes] : json.members()) {
    for (const auto& [name, value] : attributes.members()) facts[device][name] = value.text();
  }
  return facts;
}

Json node_to_json(const ClusterNode& node) {
  return {{"host", node.host}, {"shape", node.shape}, {"identity", Json(node.identity)}};
}

ClusterNode node_from_json(const JsonReader& json) {
  return {rank_host_from_json(json.at("host")), json.at("shape").integer<int>(),
          facts_of(json.at("identity"))};
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
  const Json shapes = Json::parse(cluster.shapes, nullptr, false);
  return {{"summary", cluster.summary},
          {"nodes", array_of(cluster.nodes, node_to_json)},
          {"placement", array_of(cluster.placement, placed_to_json)},
          {"shapes", shapes.is_discarded() ? Json(nullptr) : shapes}};
}

Cluster cluster_from_json(const JsonReader& json) {
  return {.shapes = json.at("shapes").compact(),
          .nodes = list_from_json(json.at("nodes"), node_from_json),
          .summary = texts_from_json(json.at("summary")),
          .placement = list_from_json(json.at("placement"), placed_from_json)};
}

}  // namespace collbench
