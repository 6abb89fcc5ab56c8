#pragma once
#include <string>
#include <string_view>

#include "base/json_reader.hpp"
#include "base/record/probe.hpp"

namespace collbench::analysis {

[[nodiscard]] std::string probe_json(const ProbeRecord& record);

/// Throws Error (usage) that names the place in `file`.
[[nodiscard]] ProbeRecord probe_from_json(std::string_view text, const std::string& file);
[[nodiscard]] ProbeRecord probe_from_json(const JsonReader& root);

}  // namespace collbench::analysis
