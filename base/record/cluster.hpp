#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"

namespace collbench {

/// Attributes by device: {"GPU 0000:18:00.0": {"uuid": "GPU-…"}}.
using FactsByDevice = std::map<std::string, std::map<std::string, std::string>>;

/// One node of a run.
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

/// The machines of a run record (docs/formats.md). `shapes` stands in it as JSON, not as a string; null when
/// it is none.
[[nodiscard]] Json cluster_to_json(const Cluster& cluster);

/// Throws Error (usage) that names the place in the file. Does not look into `shapes`.
[[nodiscard]] Cluster cluster_from_json(const JsonReader& json);

}  // namespace collbench
