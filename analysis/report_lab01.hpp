#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/lab01_parts.hpp"
#include "base/record/run.hpp"

namespace collbench {

struct Lab01Options {
  std::vector<PrecedingCheck> checks;        ///< analysis/lab01_checks.hpp
  std::vector<Ceiling> ceilings;             ///< analysis/lab01_ceilings.hpp
  std::optional<double> price_per_gpu_hour;  ///< in whatever currency; none: no price
};

/// Lab 01 as Markdown, to hand in: the hardware as found, the checks that precede, the theoretical ceilings
/// with their arithmetic, AllReduce at 1 MB, 100 MB and 1 GB (the nearest sizes of the run, within a factor
/// of 1.5; out of place) expected by ring and tree and measured, an explanation each, and the price. Works
/// for host memory, and says so.
[[nodiscard]] std::string report_lab01(const Run& run, const Lab01Options& options);

}  // namespace collbench
