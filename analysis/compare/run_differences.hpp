#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// What differs between two runs beside their times, a line each: machines with the price of each difference,
/// hosts, versions, environment, settings, what others took of the cores. Empty where nothing is known to
/// differ.
[[nodiscard]] std::vector<std::string> run_differences(const Run& base, const Run& current);

/// Where some of these runs on GPUs timed their calls on the same addresses and others walked through memory
/// (docs/gpu.md, "Cold and hot"): below so many bytes the ones may have found their data in the L2. 0: all
/// did the same, or nobody says.
[[nodiscard]] std::uint64_t cold_below(const std::vector<Run>& base, const std::vector<Run>& current);

/// That one run rounded each rank's part to 16 bytes and the other to whole elements, where that makes some
/// of their rows other calls; empty where it makes none, or nobody says.
[[nodiscard]] std::string counts_difference(const Run& base, const Run& current);

/// What of the records themselves bears on every row: runs that were cut short, and how launches count.
[[nodiscard]] std::vector<std::string> record_lines(const std::vector<Run>& base,
                                                    const std::vector<Run>& current);

}  // namespace collbench::analysis
