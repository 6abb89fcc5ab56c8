#include "base/record/measured_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/deterministic_random.hpp"
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

struct ProbeFigure {
  const char* key;
  double MachineProbe::* value;
  NumberRange range;
  bool can_be_zero;  ///< else 0 is: not known
};

constexpr std::array<ProbeFigure, 4> kProbeFigures{{
    {"round_trip_seconds", &MachineProbe::round_trip_seconds, kSeconds, false},
    {"steps_per_second", &MachineProbe::steps_per_second, kRate, false},
    {"read_bytes_per_second", &MachineProbe::read_bytes_per_second, kRate, false},
    {"stolen_share", &MachineProbe::stolen_share, kDifference, true},
}};

}  // namespace

Json block_to_json(const MeasuredBlock& block) {
  return {{"row", block.row},
          {"pass", block.pass},
          {"seconds", block.seconds},
          {"iterations", block.iterations},
          {"iterations_per_sample", block.iterations_per_sample},
          {"warmup_iterations", block.warmup_iterations},
          {"samples_seconds", array_of(block.samples, min_digits)},
          {"rank_times", rank_times_to_json(block.ranks)},
          {"enqueue_seconds", or_null(block.enqueue_seconds)},
          {"wrong_elements", or_null(block.wrong_elements)},
          {"wrong", wrong_to_json(block.wrong)},
          {"nccl", nccl_selection_to_json(block.nccl)},
          {"probe", block.probe ? probes_to_json({*block.probe}) : Json(nullptr)}};
}

MeasuredBlock block_from_json(const JsonReader& json, std::size_t rows, std::size_t ranks) {
  MeasuredBlock block;
  block.row = json.at("row").integer<std::size_t>();
  if (block.row >= rows) throw json.at("row").expected(fmt::format("a row below {}", rows));
  block.pass = json.at("pass").integer<int>();
  block.seconds = json.at("seconds").number(kSeconds);
  block.iterations = json.at("iterations").integer<std::uint64_t>();
  block.iterations_per_sample = json.at("iterations_per_sample").integer<std::uint64_t>();
  if (const auto count = json.find("warmup_iterations"))
    block.warmup_iterations = count->integer<std::uint64_t>();
  block.samples = list_from_json(json.at("samples_seconds"), [](const JsonReader& sample) {
    return static_cast<float>(sample.number(kSeconds));
  });
  block.ranks = rank_times_from_json(json.at("rank_times"));
  if (block.ranks.size() != ranks) {
    throw json.at("rank_times").expected(fmt::format("the times of {} ranks", ranks));
  }
  block.enqueue_seconds = optional_number(json, "enqueue_seconds", kSeconds);
  if (const auto wrong = json.find("wrong_elements")) block.wrong_elements = wrong->integer<std::uint64_t>();
  block.wrong = wrong_from_json(json.at("wrong"));
  block.nccl = nccl_selection_in(json);
  if (const auto probe = json.find("probe")) {
    const std::vector<MachineProbe> probes = probes_from_json(*probe);
    if (probes.size() != 1) throw probe->expected("the figures of one probe");
    block.probe = probes.front();
  }
  return block;
}

/// One array per figure: a third of the bytes of one object per rank, and a column for scripts.
Json rank_times_to_json(const std::vector<RankTimes>& ranks) {
  Json result = {{"rank", Json::array()},
                 {"median_seconds", Json::array()},
                 {"p99_seconds", Json::array()},
                 {"page_faults", Json::array()}};
  for (const RankTimes& times : ranks) {
    result["rank"].push_back(times.rank);
    result["median_seconds"].push_back(times.median_seconds);
    result["p99_seconds"].push_back(times.p99_seconds);
    result["page_faults"].push_back(or_null(times.page_faults));
  }
  const bool steps = std::any_of(ranks.begin(), ranks.end(), [](const auto& each) { return each.step; });
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
    if (column.size() != ranks.size()) throw json.expected("arrays of one length");
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      (*ranks[i].step).*figure.value = column[i].number(figure.range);
    }
  }
}

}  // namespace

std::vector<RankTimes> rank_times_from_json(const JsonReader& json) {
  const auto ranks = json.at("rank").items();
  const auto medians = json.at("median_seconds").items();
  const auto p99s = json.at("p99_seconds").items();
  const auto counted = json.find("page_faults");  // older records lack it
  const auto faults = counted ? counted->items() : std::vector<JsonReader>{};
  if (medians.size() != ranks.size() || p99s.size() != ranks.size() ||
      (counted && faults.size() != ranks.size())) {
    throw json.expected("arrays of one length");
  }
  std::vector<RankTimes> result;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    RankTimes times{ranks[i].integer<int>(), medians[i].number(kSeconds), p99s[i].number(kSeconds)};
    if (counted) times.page_faults = faults[i].optional_number(kQuantity);
    result.push_back(times);
  }
  read_steps(json, result);
  return result;
}

Json probes_to_json(const std::vector<MachineProbe>& probes) {
  Json result = Json::object();
  for (const ProbeFigure& figure : kProbeFigures) {
    Json& column = result[figure.key] = Json::array();
    for (const MachineProbe& probe : probes) {
      const double value = probe.*figure.value;
      column.push_back(value != 0 || figure.can_be_zero ? Json(value) : Json(nullptr));
    }
  }
  return result;
}

std::vector<MachineProbe> probes_from_json(const JsonReader& json) {
  std::vector<MachineProbe> result(json.at(kProbeFigures.front().key).items().size());
  for (const ProbeFigure& figure : kProbeFigures) {
    const std::vector<JsonReader> column = json.at(figure.key).items();
    if (column.size() != result.size()) throw json.expected("arrays of one length");
    for (std::size_t i = 0; i < column.size(); ++i) {
      result[i].*figure.value = column[i].optional_number(figure.range).value_or(0);
    }
  }
  // Older versions wrote what came of a count of stolen time that ran backwards.
  for (MachineProbe& probe : result)
    if (probe.stolen_share < 0 || probe.stolen_share > 1) probe.stolen_share = 0;
  return result;
}

Json wrong_to_json(const std::vector<WrongElements>& wrong) {
  return array_of(wrong, [](const WrongElements& found) -> Json {
    return {{"rank", found.rank},         {"host", found.host},
            {"count", found.count},       {"first_index", found.first_index},
            {"expected", found.expected}, {"got", found.got}};
  });
}

std::vector<WrongElements> wrong_from_json(const JsonReader& json) {
  return list_from_json(json, [](const JsonReader& wrong) -> WrongElements {
    return {wrong.at("rank").integer<int>(),
            rank_host_from_json(wrong.at("host")),
            wrong.at("count").integer<std::uint64_t>(),
            wrong.at("first_index").integer<std::uint64_t>(),
            wrong.at("expected").text(),
            wrong.at("got").text()};
  });
}

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
  }
  if (blocks.front().front().step) add_step_times(result, blocks);
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
    std::transform(pass_probes_.begin(), pass_probes_.end(), passes.round_trip_seconds.begin(),
                   [](const MachineProbe& probe) { return probe.round_trip_seconds; });
  }
  return passes;
}

void RowSamples::summarise(Measurement& measurement) const {
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
  measurement.interval.reset();
  if (const auto interval = median_interval_in_time(pass_seconds_)) {
    measurement.interval = TimeInterval{
        .low_seconds = interval->low, .high_seconds = interval->high, .confidence = interval->confidence};
  }
  if (!enqueue_seconds_.empty()) measurement.enqueue_seconds = median(enqueue_seconds_);
  measurement.iterations = iterations_;
  measurement.warmup_iterations = warmup_iterations_;
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
