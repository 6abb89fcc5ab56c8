#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/record/measured_block.hpp"
#include "base/record/measurement.hpp"

namespace collbench {

/// What is kept of one row while its blocks come in, from one launch or from several in turn.
class RowSamples {
 public:
  /// `launch` never decreases from call to call.
  void add(const MeasuredBlock& block, int launch);

  [[nodiscard]] const std::vector<double>& pass_seconds() const { return pass_seconds_; }

  /// Writes passes, interval, distribution, per-rank and enqueue times, what the checks found and what NCCL
  /// told into `measurement`.
  void summarise(Measurement& measurement) const;

 private:
  std::vector<double> pass_seconds_;
  std::vector<int> launch_passes_;
  int launch_ = -1;
  std::vector<float> samples_;
  std::vector<std::vector<RankTimes>> rank_times_;  // by pass, then by rank
  std::vector<double> enqueue_seconds_;             // of the passes that took it
  std::uint64_t iterations_ = 0;
  std::uint64_t iterations_per_sample_ = 1;
  std::optional<std::uint64_t> wrong_elements_;
  std::vector<WrongElements> wrong_;
  std::optional<NcclSelection> nccl_;
};

}  // namespace collbench
