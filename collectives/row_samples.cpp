#include "collectives/row_samples.hpp"

#include <algorithm>

#include "base/statistics.hpp"

namespace collbench {

void RowSamples::add(const Block& own, double pass_seconds, std::span<const double> across_ranks,
                     std::uint64_t iterations, std::uint64_t iterations_per_sample) {
  pass_seconds_.push_back(pass_seconds);
  const auto to_float = [](double seconds) { return static_cast<float>(seconds); };
  std::transform(own.samples.begin(), own.samples.end(), std::back_inserter(own_), to_float);
  std::transform(across_ranks.begin(), across_ranks.end(), std::back_inserter(across_ranks_), to_float);
  iterations_ += iterations;
  iterations_per_sample_ = std::max(iterations_per_sample_, iterations_per_sample);
}

RankTimes RowSamples::own_times(int rank) const {
  if (own_.empty()) return {.rank = rank};
  const std::vector<double> samples(own_.begin(), own_.end());
  return {.rank = rank, .median_seconds = median(samples), .p99_seconds = quantile(samples, 0.99)};
}

void RowSamples::summarise(Measurement& measurement) const {
  measurement.pass_seconds = pass_seconds_;
  if (pass_seconds_.empty()) return;
  measurement.seconds = median(pass_seconds_);
  measurement.interval.reset();
  if (const auto interval = median_interval(pass_seconds_)) {
    measurement.interval = TimeInterval{
        .low_seconds = interval->low, .high_seconds = interval->high, .confidence = interval->confidence};
  }
  measurement.iterations = iterations_;
  measurement.iterations_per_sample = iterations_per_sample_;
  measurement.samples = across_ranks_.size();
  const std::vector<double> samples(across_ranks_.begin(), across_ranks_.end());
  measurement.minimum = *std::min_element(samples.begin(), samples.end());
  measurement.mean = mean(samples);
  measurement.median = median(samples);
  measurement.p95 = quantile(samples, 0.95);
  measurement.p99 = quantile(samples, 0.99);
  measurement.variation = coefficient_of_variation(samples);
}

}  // namespace collbench
