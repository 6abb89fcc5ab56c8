#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/record/fields.hpp"

namespace collbench {

/// Attributes by device: {"GPU 0000:18:00.0": {"uuid": "GPU-…"}}.
using FactsByDevice = std::map<std::string, std::map<std::string, std::string>>;

struct ClusterNode {
  std::string host;
  int shape = 0;           ///< index into the different machines of the run
  FactsByDevice identity;  ///< what tells it from others of that shape: names, UUIDs, GUIDs, serial numbers

  bool operator==(const ClusterNode&) const = default;
};

/// What a rank works with, as its host calls it. Empty and none: not known.
struct PlacedRank {
  int rank = 0;
  std::string gpu;          ///< "GPU3"
  std::string gpu_address;  ///< "0000:18:00.0"
  std::string nic;          ///< the nearest to the GPU: "mlx5_3"
  std::optional<int> numa_node;
  bool guess = false;  ///< the GPU is known by an index alone
  std::string note;    ///< what is wrong or not known

  bool operator==(const PlacedRank&) const = default;
};

/// The nodes of a run, each different machine described once.
struct Cluster {
  std::string shapes;  ///< JSON as `topo save` writes it, with a host for each different machine
  std::vector<ClusterNode> nodes;
  std::vector<std::string> summary;     ///< what the cluster is and which node is odd, for a person
  std::vector<PlacedRank> placement{};  ///< by rank; empty where no machine of the run shows a GPU

  bool operator==(const Cluster&) const = default;
};

void each_field(auto& visit, Either<ClusterNode> auto& node) {
  visit("host", node.host, RankHost{});
  visit("shape", node.shape);
  visit("identity", node.identity);
}

void each_field(auto& visit, Either<PlacedRank> auto& placed) {
  visit("rank", placed.rank);
  visit("gpu", placed.gpu);
  visit("gpu_address", placed.gpu_address);
  visit("nic", placed.nic);
  visit("numa_node", placed.numa_node);
  visit("guess", placed.guess);
  visit("note", placed.note);
}

/// A text of JSON stands in a record as JSON, not as a string; null when it is none.
struct JsonInText {
  [[nodiscard]] static Json to(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    return json.is_discarded() ? Json(nullptr) : json;
  }
  [[nodiscard]] static std::string from(const JsonReader& json) { return json.compact(); }
};

void each_field(auto& visit, Either<Cluster> auto& cluster) {
  visit("summary", cluster.summary);
  visit("nodes", cluster.nodes);
  visit("placement", cluster.placement);
  visit("shapes", cluster.shapes, JsonInText{});
}

}  // namespace collbench
