#include "base/record/row_samples.hpp"

#include <algorithm>

#include "base/statistics.hpp"

namespace collbench {
namespace {

/// The median over blocks of one figure of one rank; none where no block has it.
template <class Figure>
std::optional<double> typical(const std::vector<std::vector<RankTimes>>& blocks, std::size_t rank,
                              Figure RankTimes::* figure) {
  std::vector<double> values;
  for (const auto& block : blocks) {
    if (rank >= block.size()) continue;
    if (const std::optional<double> value = block[rank].*figure) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

/// Of each rank, the median over blocks of what its calls gave in a block.
std::vector<RankTimes> typical_times(const std::vector<std::vector<RankTimes>>& blocks) {
  std::vector<RankTimes> result;
  if (blocks.empty()) return result;
  for (std::size_t rank = 0; rank < blocks.front().size(); ++rank) {
    result.push_back({.rank = blocks.front()[rank].rank,
                      .median_seconds = *typical(blocks, rank, &RankTimes::median_seconds),
                      .p99_seconds = *typical(blocks, rank, &RankTimes::p99_seconds),
                      .page_faults = typical(blocks, rank, &RankTimes::page_faults)});
  }
  return result;
}

/// Each rank stands once in the list, with its first wrong element and the count of all of them.
void add_wrong(std::vector<WrongElements>& known, const WrongElements& found) {
  const auto same = std::find_if(known.begin(), known.end(),
                                 [&](const WrongElements& each) { return each.rank == found.rank; });
  if (same == known.end()) {
    known.push_back(found);
  } else {
    same->count += found.count;
  }
}

}  // namespace

void RowSamples::add(const MeasuredBlock& block, int launch) {
  pass_seconds_.push_back(block.seconds);
  if (launch != launch_) launch_passes_.push_back(0);
  launch_ = launch;
  ++launch_passes_.back();
  samples_.insert(samples_.end(), block.samples.begin(), block.samples.end());
  if (!block.ranks.empty()) rank_times_.push_back(block.ranks);
  iterations_ += block.iterations;
  iterations_per_sample_ = std::max(iterations_per_sample_, block.iterations_per_sample);
  if (block.enqueue_seconds) enqueue_seconds_.push_back(*block.enqueue_seconds);
  if (block.wrong_elements) wrong_elements_ = wrong_elements_.value_or(0) + *block.wrong_elements;
  for (const WrongElements& found : block.wrong) add_wrong(wrong_, found);
  if (block.nccl) nccl_ = block.nccl;
}

void RowSamples::summarise(Measurement& measurement) const {
  measurement.pass_seconds = pass_seconds_;
  measurement.launch_passes = launch_passes_;
  measurement.wrong_elements = wrong_elements_;
  measurement.wrong = wrong_;
  measurement.nccl = nccl_;
  if (nccl_) measurement.algorithm_ran = algorithm_ran(measurement.key.algorithm, *nccl_);
  if (pass_seconds_.empty()) return;
  measurement.seconds = median(pass_seconds_);
  measurement.interval.reset();
  if (const auto interval = median_interval_in_time(pass_seconds_)) {
    measurement.interval = TimeInterval{
        .low_seconds = interval->low, .high_seconds = interval->high, .confidence = interval->confidence};
  }
  if (!enqueue_seconds_.empty()) measurement.enqueue_seconds = median(enqueue_seconds_);
  measurement.iterations = iterations_;
  measurement.iterations_per_sample = iterations_per_sample_;
  measurement.samples = samples_.size();
  measurement.ranks = typical_times(rank_times_);
  if (samples_.empty()) return;
  const std::vector<double> samples(samples_.begin(), samples_.end());
  measurement.minimum = *std::min_element(samples.begin(), samples.end());
  measurement.mean = mean(samples);
  measurement.median = median(samples);
  measurement.p95 = quantile(samples, 0.95);
  measurement.p99 = quantile(samples, 0.99);
  measurement.variation = coefficient_of_variation(samples);
}

}  // namespace collbench
