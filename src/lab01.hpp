#pragma once
#include <optional>
#include <string>

#include "base/record/run.hpp"

namespace collbench {

/// What --preset lab01 and its options ask for.
struct Lab01Request {
  bool asked = false;                        ///< --preset lab01
  std::string topology;                      ///< --topology; empty: what the record names
  std::optional<double> price_per_gpu_hour;  ///< --price
};

/// Lab 01 of a run as Markdown. The machine is that of `request.topology`, else that of an imported log's own
/// --topology: a reference machine's name, or a file. Throws Error (usage) for one that is neither.
[[nodiscard]] std::string lab01(const Run& run, const Lab01Request& request);

}  // namespace collbench
