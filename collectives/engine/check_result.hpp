#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/record/measured_block.hpp"
#include "base/record/measurement.hpp"
#include "base/statistics.hpp"
#include "collectives/data/data_pattern.hpp"
#include "collectives/engine/block_timer.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

/// What one rank found in the checks of a visit, as it travels.
class CheckResult {
 public:
  /// What one more check found.
  void add(const std::optional<Mismatch>& found);

  /// A block that holds what all ranks found, on all ranks, and nothing else yet. `hosts` is the host of
  /// every rank. Collective.
  [[nodiscard]] MeasuredBlock gathered(launch::Ranks& ranks, const std::vector<std::string>& hosts) const;

 private:
  /// A number as text: at most the 20 digits of a uint64, or 9 of a float with its sign, point and exponent.
  using Number = std::array<char, 32>;

  std::uint64_t wrong_elements_ = 0;
  std::uint64_t first_index_ = 0;  // of the first check that found any, as are the next two
  Number expected_{};
  Number got_{};
};

/// What a rank tells rank 0 after a block, as it travels.
struct RankReport {
  RankTimes times;
  bool interrupted = false;  ///< somebody asked this rank to end
};

/// Of a block of `iterations` iterations on `rank`.
[[nodiscard]] inline RankReport rank_report(int rank, const Block& own, std::uint64_t iterations,
                                            bool interrupted) {
  RankReport report{.times = {.rank = rank,
                              .median_seconds = median(own.samples),
                              .p99_seconds = quantile(own.samples, 0.99)},
                    .interrupted = interrupted};
  if (own.page_faults)
    report.times.page_faults = static_cast<double>(*own.page_faults) / static_cast<double>(iterations);
  if (own.core_wait_seconds && own.elapsed_seconds > 0)
    report.times.core_wait_share = std::min(1.0, *own.core_wait_seconds / own.elapsed_seconds);
  report.times.step = own.step;
  return report;
}

}  // namespace collbench::collectives
