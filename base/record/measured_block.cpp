#include "base/record/measured_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/deterministic_random.hpp"
#include "base/record/fields.hpp"
#include "base/record/nccl_selection.hpp"
#include "base/statistics.hpp"

namespace collbench {
namespace {

/// The double with the fewest digits that is the same float: half as many as the float's own value has.
double min_digits(float value) {
  const std::string text = fmt::format("{}", value);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

constexpr const char* kOneLength = "arrays of one length";

}  // namespace

static void each_field(auto& visit, Either<RankTimes> auto& times) {
  visit("rank", times.rank);
  visit("median_seconds", times.median_seconds, kSeconds);
  visit("p99_seconds", times.p99_seconds, kSeconds);
  visit.older("page_faults", times.page_faults);
  visit.older("core_wait_share", times.core_wait_share);
}

namespace {

Json probe_to_json(const MachineProbe& probe) { return columns_to_json(std::vector{probe}); }

MachineProbe probe_from_json(const JsonReader& json) {
  const std::vector<MachineProbe> probes = probes_from_json(json);
  if (probes.size() != 1) throw json.expected("the figures of one probe");
  return probes.front();
}

Json sample_to_json(float sample) { return min_digits(sample); }

float sample_from_json(const JsonReader& json) { return static_cast<float>(json.number(kSeconds)); }

}  // namespace

static void each_field(auto& visit, Either<MeasuredBlock> auto& block) {
  visit("row", block.row);
  visit("pass", block.pass);
  visit("seconds", block.seconds, kSeconds);
  visit("iterations", block.iterations);
  visit("iterations_per_sample", block.iterations_per_sample);
  visit.older("warmup_iterations", block.warmup_iterations);
  visit("samples_seconds", block.samples, By{sample_to_json, sample_from_json});
  visit("rank_times", block.ranks, By{rank_times_to_json, rank_times_from_json});
  visit("enqueue_seconds", block.enqueue_seconds, kSeconds);
  visit("wrong_elements", block.wrong_elements);
  visit("wrong", block.wrong);
  visit("nccl", block.nccl);
  visit("probe", block.probe, By{probe_to_json, probe_from_json});
}

Json block_to_json(const MeasuredBlock& block) { return record_to_json(block); }

MeasuredBlock block_from_json(const JsonReader& json, std::size_t rows, std::size_t ranks) {
  auto block = record_from_json<MeasuredBlock>(json);
  if (block.row >= rows) throw json.at("row").expected(fmt::format("a row below {}", rows));
  if (block.ranks.size() != ranks)
    throw json.at("rank_times").expected(fmt::format("the times of {} ranks", ranks));
  return block;
}

Json rank_times_to_json(const std::vector<RankTimes>& ranks) {
  Json result = columns_to_json(ranks);
  const bool steps = std::ranges::any_of(ranks, [](const auto& each) { return each.step.has_value(); });
  for (const StepFigure& figure : kStepFigures) {
    if (!steps) break;
    Json& column = result[figure.key] = Json::array();
    for (const RankTimes& times : ranks)
      column.push_back(times.step ? Json((*times.step).*figure.value) : Json(nullptr));
  }
  return result;
}

namespace {

/// The columns of a Step, which other operations lack.
void read_steps(const JsonReader& json, std::vector<RankTimes>& ranks) {
  if (!json.find(kStepFigures.front().key)) return;
  for (RankTimes& times : ranks) times.step.emplace();
  for (const StepFigure& figure : kStepFigures) {
    const std::vector<JsonReader> column = json.at(figure.key).items();
    if (column.size() != ranks.size()) throw json.expected(kOneLength);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      (*ranks[i].step).*figure.value = column[i].number(figure.range);
    }
  }
}

}  // namespace

std::vector<RankTimes> rank_times_from_json(const JsonReader& json) {
  std::vector<RankTimes> result;
  columns_from_json(json, result, kOneLength);
  read_steps(json, result);
  return result;
}

std::vector<MachineProbe> probes_from_json(const JsonReader& json) {
  std::vector<MachineProbe> result;
  columns_from_json(json, result, kOneLength);
  // Older versions wrote what came of a count of stolen time that ran backwards.
  for (MachineProbe& probe : result)
    if (probe.stolen_share < 0 || probe.stolen_share > 1) probe.stolen_share = 0;
  return result;
}

namespace {

/// One figure of one rank in each block that has it.
template <class Figure>
std::vector<double> over_blocks(const std::vector<std::vector<RankTimes>>& blocks, std::size_t rank,
                                Figure RankTimes::* figure) {
  std::vector<double> values;
  for (const auto& block : blocks) {
    if (rank >= block.size()) continue;
    if (const std::optional<double> value = block[rank].*figure) values.push_back(*value);
  }
  return values;
}

/// The median over blocks of one figure of one rank; none where no block has it.
template <class Figure>
std::optional<double> typical(const std::vector<std::vector<RankTimes>>& blocks, std::size_t rank,
                              Figure RankTimes::* figure) {
  std::vector<double> values = over_blocks(blocks, rank, figure);
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

/// How much a figure of each rank is above the median of the others in a block, by rank; of blocks that lack
/// it for a rank nothing.
std::vector<double> block_excess(const std::vector<RankTimes>& block, double StepTimes::* figure) {
  std::vector<double> values;
  for (const RankTimes& times : block) {
    if (!times.step) return {};
    values.push_back((*times.step).*figure);
  }
  return above_others(values);
}

/// The figures of a Step: medians over blocks, and of what is above the others what three of four blocks
/// exceed.
void add_step_times(std::vector<RankTimes>& ranks, const std::vector<std::vector<RankTimes>>& blocks) {
  constexpr double kExceededBy = 0.25;
  std::vector<std::vector<double>> compute;  // above the others, by block, then by rank
  std::vector<std::vector<double>> between;
  for (const auto& block : blocks) {
    compute.push_back(block_excess(block, &StepTimes::compute_seconds));
    between.push_back(block_excess(block, &StepTimes::between_seconds));
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto over_blocks = [&](const std::vector<std::vector<double>>& excess) {
      std::vector<double> values;
      for (const auto& block : excess)
        if (rank < block.size()) values.push_back(block[rank]);
      return values.empty() ? 0 : quantile(std::move(values), kExceededBy);
    };
    std::vector<StepTimes> own;
    for (const auto& block : blocks)
      if (rank < block.size() && block[rank].step) own.push_back(*block[rank].step);
    StepTimes& times = ranks[rank].step.emplace(median_of(own));
    times.compute_excess_seconds = over_blocks(compute);
    times.between_excess_seconds = over_blocks(between);
  }
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
    const std::vector<double> waits = over_blocks(blocks, rank, &RankTimes::core_wait_share);
    if (!waits.empty()) result.back().core_wait_share = mean(waits);  // one disturbed block of many counts
  }
  if (blocks.front().front().step) add_step_times(result, blocks);
  return result;
}

/// Each rank stands once in the list, with its first wrong element and the count of all of them.
void add_wrong(std::vector<WrongElements>& known, const WrongElements& found) {
  const auto same = std::ranges::find(known, found.rank, &WrongElements::rank);
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
  if (block.probe) pass_probes_.push_back(*block.probe);
  // Samples of two lengths say nothing together: of a row whose first pass was disturbed the longer ones
  // count.
  if (block.iterations_per_sample > iterations_per_sample_) {
    samples_.clear();
    samples_seen_ = 0;
  }
  if (block.iterations_per_sample >= iterations_per_sample_) {
    for (const float sample : block.samples) add_sample(sample);
  }
  if (!block.ranks.empty()) rank_times_.push_back(block.ranks);
  iterations_ += block.iterations;
  warmup_iterations_ += block.warmup_iterations;
  iterations_per_sample_ = std::max(iterations_per_sample_, block.iterations_per_sample);
  if (block.enqueue_seconds) enqueue_seconds_.push_back(*block.enqueue_seconds);
  if (block.wrong_elements) wrong_elements_ = wrong_elements_.value_or(0) + *block.wrong_elements;
  for (const WrongElements& found : block.wrong) add_wrong(wrong_, found);
  if (block.nccl) nccl_ = block.nccl;
}

/// Vitter, "Random Sampling with a Reservoir", ACM TOMS 11 (1985), algorithm R, with the same drawing in
/// every run.
void RowSamples::add_sample(float sample) {
  const std::uint64_t at = samples_seen_++;
  if (at < kMaxRowSamples) {
    samples_.push_back(sample);
  } else if (const std::uint64_t drawn = scrambled(at) % samples_seen_; drawn < kMaxRowSamples) {
    samples_[drawn] = sample;
  }
}

RowPasses RowSamples::passes() const {
  RowPasses passes{.seconds = pass_seconds_, .round_trip_seconds = std::vector<double>(pass_seconds_.size())};
  if (pass_probes_.size() == pass_seconds_.size()) {
    std::ranges::transform(pass_probes_, passes.round_trip_seconds.begin(),
                           [](const MachineProbe& probe) { return probe.round_trip_seconds; });
  }
  return passes;
}

void RowSamples::summarize(Measurement& measurement) const {
  measurement.pass_seconds = pass_seconds_;
  measurement.launch_passes = launch_passes_;
  // A stream of before there were probes, that was resumed: those of later passes say nothing of all.
  measurement.pass_probes.clear();
  if (pass_probes_.size() == pass_seconds_.size()) measurement.pass_probes = pass_probes_;
  measurement.wrong_elements = wrong_elements_;
  measurement.wrong = wrong_;
  measurement.nccl = nccl_;
  if (nccl_) measurement.algorithm_ran = algorithm_ran(measurement.key.algorithm, *nccl_);
  if (pass_seconds_.empty()) return;
  measurement.seconds = median(pass_seconds_);
  measurement.interval = time_interval(pass_seconds_, false);
  if (!enqueue_seconds_.empty()) measurement.enqueue_seconds = median(enqueue_seconds_);
  measurement.iterations = iterations_;
  measurement.warmup_iterations = warmup_iterations_;
  measurement.iterations_per_sample = iterations_per_sample_;
  measurement.ranks = typical_times(rank_times_);
  summarize_samples({samples_.begin(), samples_.end()}, measurement);
}

std::optional<TimeInterval> time_interval(const std::vector<double>& seconds, bool over_launches) {
  const auto interval = median_interval_in_time(seconds);
  if (!interval) return std::nullopt;
  return TimeInterval{interval->low, interval->high, interval->confidence, over_launches};
}

std::optional<LaunchVariation> launch_variation(const std::vector<std::vector<double>>& launches,
                                                double seconds) {
  const auto parts = variance_parts(launches);
  if (!parts) return std::nullopt;
  return LaunchVariation{parts->within / seconds, parts->between / seconds};
}

void summarize_samples(const std::vector<double>& samples, Measurement& measurement) {
  measurement.samples = samples.size();
  if (samples.empty()) return;
  measurement.minimum = *std::ranges::min_element(samples);
  measurement.mean = mean(samples);
  measurement.median = median(samples);
  measurement.p95 = quantile(samples, 0.95);
  measurement.p99 = quantile(samples, 0.99);
  measurement.variation = coefficient_of_variation(samples);
}

}  // namespace collbench
