#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/json_reader.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The graph as JSON, every fact as [value, source]; facts that are not known are left out.
/// docs/topology.md describes it.
[[nodiscard]] nlohmann::ordered_json topology_to_json(const Topology& topology);

/// The inverse; exact. Throws Error (usage) that names the file and the path in the document
/// ("hosts[0].gpus[3].sm"). Refuses another schema version, and graphs that do not hold together
/// (find_inconsistency).
[[nodiscard]] Topology topology_from_json(const JsonReader& json);

/// For `topo save`: indented text, and back.
[[nodiscard]] std::string save_topology(const Topology& topology);
[[nodiscard]] Topology load_topology(std::string_view text, std::string_view file);

}  // namespace collbench::topology
