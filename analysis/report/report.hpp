#pragma once
#include <string>
#include <string_view>

#include "analysis/report/text.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// The run in `format`: "text" (as `options` say), "md", "csv" or "json". Throws Error (usage) for any other.
[[nodiscard]] std::string report(const Run& run, std::string_view format, const TextOptions& options = {});

}  // namespace collbench::analysis
