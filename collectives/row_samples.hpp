#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/record/measurement.hpp"
#include "collectives/block_timer.hpp"

namespace collbench {

/// What one rank keeps of one row while the sweep goes on. Samples are floats: 24 bits are more than any
/// clock gives.
class RowSamples {
 public:
  /// A block of this rank, and the same block reduced over ranks.
  void add(const Block& own, double pass_seconds, std::span<const double> across_ranks,
           std::uint64_t iterations, std::uint64_t iterations_per_sample);

  [[nodiscard]] const std::vector<double>& pass_seconds() const { return pass_seconds_; }

  /// Median and 99th percentile of this rank's own samples; zeros when there are none.
  [[nodiscard]] RankTimes own_times(int rank) const;

  /// Writes passes, interval and distribution into `measurement`.
  void summarise(Measurement& measurement) const;

 private:
  std::vector<double> pass_seconds_;
  std::vector<float> own_;
  std::vector<float> across_ranks_;
  std::uint64_t iterations_ = 0;
  std::uint64_t iterations_per_sample_ = 1;
};

}  // namespace collbench
