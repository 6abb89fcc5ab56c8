#pragma once
#include <string>
#include <string_view>

#include "base/record/probe.hpp"

namespace collbench::analysis {

[[nodiscard]] std::string probe_json(const ProbeRecord& record);

/// Throws Error (usage) that names the place in `file`.
[[nodiscard]] ProbeRecord probe_from_json(std::string_view text, const std::string& file);

}  // namespace collbench::analysis
