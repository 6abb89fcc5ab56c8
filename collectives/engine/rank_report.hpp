#pragma once
#include <cstdint>

#include "base/record/measurement.hpp"
#include "base/statistics.hpp"
#include "collectives/engine/block_timer.hpp"

namespace collbench::collectives {

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
  report.times.step = own.step;
  return report;
}

}  // namespace collbench::collectives
