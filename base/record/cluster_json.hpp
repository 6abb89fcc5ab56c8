#pragma once
#include "base/json_reader.hpp"
#include "base/record/cluster.hpp"
#include "base/record/json_fields.hpp"

namespace collbench {

/// The machines of a run record (docs/formats.md). `shapes` stands in it as JSON, not as a string; null when
/// it is none.
[[nodiscard]] Json cluster_to_json(const Cluster& cluster);

/// Throws Error (usage) that names the place in the file. Does not look into `shapes`.
[[nodiscard]] Cluster cluster_from_json(const JsonReader& json);

}  // namespace collbench
