#pragma once
#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/traffic_matrix.hpp"

namespace collbench {

/// As an object whose weights are one array per sender.
[[nodiscard]] Json traffic_matrix_to_json(const TrafficMatrix& traffic);

/// Throws Error (usage) that names the place in the file.
[[nodiscard]] TrafficMatrix traffic_matrix_from_json(const JsonReader& json);

}  // namespace collbench
