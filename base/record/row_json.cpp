#include "base/record/run.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "base/record/fields.hpp"
#include "base/record/measured_block.hpp"
#include "base/record/nccl_selection.hpp"
#include "base/record/telemetry.hpp"
#include "base/units.hpp"

namespace collbench {
namespace {

bool over_launches(const JsonReader& json) { return json.text() == "launches"; }

const char* over_words(bool over_launches) { return over_launches ? "launches" : "passes"; }

}  // namespace

static void each_field(auto& visit, Either<TimeInterval> auto& interval) {
  visit("low_seconds", interval.low_seconds, kSeconds);
  visit("high_seconds", interval.high_seconds, kSeconds);
  visit("confidence", interval.confidence, kShare);
  visit.older("over", interval.over_launches, By{over_words, over_launches});
}

static void each_field(auto& visit, Either<LaunchVariation> auto& variation) {
  visit("within", variation.within, NumberOrNull{kQuantity});
  visit("between", variation.between, NumberOrNull{kQuantity});
}

static void each_field(auto& visit, Either<RowState> auto& state) {
  visit("min_round_trip_seconds", state.min_round_trip_seconds, kSeconds);
  visit("max_round_trip_seconds", state.max_round_trip_seconds, kSeconds);
  visit("passes", state.passes);
  visit("launches", state.launches);
  visit("seconds", state.seconds, kSeconds);
  visit("interval", state.interval);
}

static void each_field(auto& visit, Either<HiddenLoss> auto& loss) {
  visit("resource", loss.resource);
  visit("share", loss.share, kShare);
  visit("text", loss.text);
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(loss)>>) loss.count = 0;  // older ones
  visit.older("count", loss.count);
}

static void each_field(auto& visit, Either<HealthyRange> auto& range) {
  visit("below", range.below, NumberOrNull{kQuantity, 0, true});
  visit("sound", range.sound, NumberOrNull{kQuantity, std::numeric_limits<double>::infinity()});
  visit("high", range.high, NumberOrNull{kQuantity, 0, true});
  visit("source", range.source);
}

static void each_field(auto& visit, Either<Expectation> auto& expected) {
  visit("ring_seconds", expected.ring_seconds, kSeconds);
  visit("tree_seconds", expected.tree_seconds, kSeconds);
  visit("nvls_seconds", expected.nvls_seconds, kSeconds);
  visit("expected_seconds", expected.expected_seconds, kSeconds);
  visit("expected_by", expected.expected_by);
  visit("fastest_seconds", expected.fastest_seconds, kSeconds);
  visit("slowest_seconds", expected.slowest_seconds, kSeconds);
  visit.older("limited_by", expected.limited_by);
}

namespace {

Json gigabytes(std::optional<double> bytes_per_second) {
  return bytes_per_second ? Json(*bytes_per_second / kGigabyte) : Json(nullptr);
}

Json rates_json(const Rates& rates) {
  return {{"algorithm_bandwidth_gb_per_s", gigabytes(rates.algorithm_bandwidth)},
          {"bus_bandwidth_gb_per_s", gigabytes(rates.bus_bandwidth)},
          {"ring_bus_bandwidth_gb_per_s", gigabytes(rates.ring_bus_bandwidth)},
          {"tree_bus_bandwidth_gb_per_s", gigabytes(rates.tree_bus_bandwidth)},
          {"expected_bus_bandwidth_gb_per_s", gigabytes(rates.expected_bus_bandwidth)},
          {"measured_over_expected", or_null(rates.measured_over_expected)}};
}

std::string_view operation_name(OperationId id) { return operation(id).name; }

OperationId operation_from_json(const JsonReader& json) {
  const Operation* found = find_operation(json.text());
  if (found == nullptr) throw json.expected("the name of an operation");
  return found->id;
}

std::string stop_to_json(const std::optional<Stop>& stop) { return stop ? format_stop(*stop) : ""; }

/// Records of before `repeat` do not say: all passes are from one launch.
void check_launch_passes(const JsonReader& row, Measurement& measured) {
  const std::size_t passes = measured.pass_seconds.size();
  const auto json = row.find("launch_passes");
  if (!json && passes > 0) measured.launch_passes = {static_cast<int>(passes)};
  std::size_t sum = 0;
  for (const int each : measured.launch_passes) sum += static_cast<std::size_t>(each);
  if (!measured.launch_passes.empty() && sum != passes)
    throw json->expected("counts that add up to the passes");
}

/// The words of schema version 1, whose edges were others: what was within them may be too slow by today's.
constexpr std::array<std::pair<std::string_view, VerdictWord>, 3> kFirstWords{
    {{"as expected", VerdictWord::unclear},
     {"model or rank count wrong", VerdictWord::unclear},
     {"LOW", VerdictWord::below}}};

Json verdict_word_to_json(VerdictWord word) {
  return word == VerdictWord::none ? Json(nullptr) : Json(name(word));
}

VerdictWord verdict_word_from_json(const JsonReader& json) {
  for (const auto& [text, word] : kFirstWords)
    if (json.text() == text) return word;
  return word_from_json<VerdictWord>(json, kWords<VerdictWord>, "the name of a verdict");
}

/// Null, and never absent.
struct FigureOrNull {
  NumberRange range;
  [[nodiscard]] std::optional<double> from(const JsonReader& json) const {
    return json.optional_number(range);
  }
};

/// None where there is no sample to take it from: a row that did not run, or another program's.
template <class Visit, class Value>
void visit_statistic(Visit& visit, const char* key, Value& value, bool is_known,
                     const NumberRange& range = kSeconds) {
  std::optional<double> shown;
  if (is_known) shown = value;
  visit(key, shown, FigureOrNull{range});
  if constexpr (!std::is_const_v<Value>) value = is_known ? shown.value_or(kNotFinite) : 0;
}

}  // namespace

static void each_field(auto& visit, Either<RowKey> auto& key) {
  visit("operation", key.operation, By{operation_name, operation_from_json});
  visit("size_bytes", key.size_bytes);
  visit("count", key.count);
  visit("type", key.type);
  visit("reduction", key.reduction);
  visit("root", key.root);
  visit("in_place", key.in_place);
  visit("algorithm", key.algorithm);
}

static void each_field(auto& visit, Either<Measurement> auto& measured) {
  each_field(visit, measured.key);
  visit("unavailable", measured.unavailable);
  visit("algorithm_ran", measured.algorithm_ran);
  visit("note", measured.note);
  visit.older("source", measured.source);
  visit("nccl", measured.nccl);
  visit("seconds", measured.seconds, NumberOrNull{kSeconds, 0});
  visit("interval", measured.interval);
  visit("launch_variation", measured.launch_variation);
  visit("pass_seconds", measured.pass_seconds, NumberOrNull{kSeconds, 0, true});
  visit.older("launch_passes", measured.launch_passes);
  visit.older("pass_probes", measured.pass_probes, By{columns_to_json<MachineProbe>, probes_from_json});
  visit.older("states", measured.states);
  visit("stopped", measured.stopped, By{stop_to_json, stop_from_json});
  visit("iterations", measured.iterations);
  visit("iterations_per_sample", measured.iterations_per_sample);
  visit.older("warmup_iterations", measured.warmup_iterations);
  visit("samples", measured.samples);
  visit_statistic(visit, "minimum_seconds", measured.minimum, measured.samples > 0);
  visit_statistic(visit, "mean_seconds", measured.mean, measured.samples > 0);
  visit_statistic(visit, "median_seconds", measured.median, measured.samples > 0);
  visit_statistic(visit, "p95_seconds", measured.p95, measured.samples > 0);
  visit_statistic(visit, "p99_seconds", measured.p99, measured.samples > 0);
  visit_statistic(visit, "variation", measured.variation, measured.samples > 0, kQuantity);
  visit("rank_times", measured.ranks, By{rank_times_to_json, rank_times_from_json});
  visit("wrong_elements", measured.wrong_elements);
  visit("wrong", measured.wrong);
  visit("enqueue_seconds", measured.enqueue_seconds, kSeconds);
  visit.older("marks", measured.marks);
}

/// The keys of a verdict are those of its row. Older records have some of them at most.
static void each_field(auto& visit, Either<Verdict> auto& verdict) {
  visit.older("verdict", verdict.word, By{verdict_word_to_json, verdict_word_from_json});
  visit("verdict_ratio", verdict.ratio);
  visit("healthy_range", verdict.range);
  visit.older("not_ruled_out", verdict.hidden);
  visit.older("explanation", verdict.explanation);
}

static void each_field(auto& visit, Either<Row> auto& row) {
  each_field(visit, row.measurement);
  each_field(visit, row.expectation);
  each_field(visit, row.verdict);
  visit("step", row.step);
}

Json row_to_json(const Row& row, int ranks) {
  Json json = record_to_json(row);
  json["rates"] = rates_json(rates(row, ranks));
  return json;
}

Row row_from_json(const JsonReader& json) {
  Row row = record_from_json<Row>(json);
  Measurement& measured = row.measurement;
  check_launch_passes(json, measured);
  if (!measured.pass_probes.empty() && measured.pass_probes.size() != measured.pass_seconds.size())
    throw json.at("pass_probes").expected("as many probes as passes");
  if (const auto word = json.find("verdict");
      word && row.verdict.word == VerdictWord::unclear && word->text() != name(VerdictWord::unclear))
    row.verdict.explanation = fmt::format("judged by an older version ({}): judge again. {}", word->text(),
                                          row.verdict.explanation);
  // Older versions judged the time of wrong data.
  if (has_wrong_data(measured)) row.verdict = {};
  return row;
}

}  // namespace collbench
