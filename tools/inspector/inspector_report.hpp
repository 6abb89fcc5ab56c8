#pragma once
#include <string>
#include <string_view>

#include "tools/inspector/job_collectives.hpp"

namespace collbench::analysis {

/// What was read and judged, by a machine of this name; empty: by none.
struct InspectorPage {
  InspectedJob job;
  JobResult result;
  std::string machine;
};

/// "BELOW: AllReduce 1 GiB of dp0 …; rank 3 on n17 of tp0 comes last …": the first line of the text.
[[nodiscard]] std::string inspector_headline(const InspectorPage& page);

/// As "text" (lines of `columns`, from 80 on, at most), "csv", "json", "md" or "html".
[[nodiscard]] std::string report(const InspectorPage& page, std::string_view format, int columns);

}  // namespace collbench::analysis
