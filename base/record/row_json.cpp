#include "base/record/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/record/measured_block.hpp"
#include "base/record/nccl_selection.hpp"
#include "base/record/telemetry.hpp"
#include "base/units.hpp"

namespace collbench {
namespace {

Json interval_json(const std::optional<TimeInterval>& interval) {
  if (!interval) return nullptr;
  return {{"low_seconds", interval->low_seconds},
          {"high_seconds", interval->high_seconds},
          {"confidence", interval->confidence},
          {"over", interval->over_launches ? "launches" : "passes"}};
}

Json launch_variation_json(const std::optional<LaunchVariation>& variation) {
  if (!variation) return nullptr;
  return {{"within", variation->within}, {"between", variation->between}};
}

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

std::optional<TimeInterval> interval_of(const JsonReader& row) {
  const auto json = row.find("interval");
  if (!json) return std::nullopt;
  const auto over = json->find("over");
  return TimeInterval{json->at("low_seconds").number(kSeconds), json->at("high_seconds").number(kSeconds),
                      json->at("confidence").number(kShare), over && over->text() == "launches"};
}

Json state_json(const RowState& state) {
  return {{"min_round_trip_seconds", state.min_round_trip_seconds},
          {"max_round_trip_seconds", state.max_round_trip_seconds},
          {"passes", state.passes},
          {"launches", state.launches},
          {"seconds", state.seconds},
          {"interval", interval_json(state.interval)}};
}

RowState row_state_of(const JsonReader& json) {
  return {json.at("min_round_trip_seconds").number(kSeconds),
          json.at("max_round_trip_seconds").number(kSeconds),
          json.at("passes").integer<int>(),
          json.at("launches").integer<int>(),
          json.at("seconds").number(kSeconds),
          interval_of(json)};
}

/// One for each pass, or none.
std::vector<MachineProbe> pass_probes_of(const JsonReader& row, std::size_t passes) {
  const auto json = row.find("pass_probes");
  if (!json) return {};
  std::vector<MachineProbe> probes = probes_from_json(*json);
  if (!probes.empty() && probes.size() != passes) throw json->expected("as many probes as passes");
  return probes;
}

std::optional<LaunchVariation> launch_variation_of(const JsonReader& row) {
  const auto json = row.find("launch_variation");
  if (!json) return std::nullopt;
  return LaunchVariation{json->at("within").optional_number(kQuantity).value_or(kNotFinite),
                         json->at("between").optional_number(kQuantity).value_or(kNotFinite)};
}

/// Records of before `repeat` do not say: all passes are from one launch.
std::vector<int> launch_passes_of(const JsonReader& row, std::size_t passes) {
  const auto json = row.find("launch_passes");
  if (!json) return passes == 0 ? std::vector<int>{} : std::vector<int>{static_cast<int>(passes)};
  std::vector<int> result;
  std::size_t sum = 0;
  for (const JsonReader& each : json->items()) {
    result.push_back(each.integer<int>());
    sum += static_cast<std::size_t>(result.back());
  }
  if (!result.empty() && sum != passes) throw json->expected("counts that add up to the passes");
  return result;
}

RowKey key_of(const JsonReader& json) {
  const JsonReader name = json.at("operation");
  const Operation* found = find_operation(name.text());
  if (found == nullptr) throw name.expected("the name of an operation");
  RowKey key;
  key.operation = found->id;
  key.size_bytes = json.at("size_bytes").integer<std::uint64_t>();
  key.count = json.at("count").integer<std::uint64_t>();
  key.type = data_type_from_json(json.at("type"));
  key.reduction = optional_reduction(json, "reduction");
  if (const auto root = json.find("root")) key.root = root->integer<int>();
  key.in_place = json.at("in_place").boolean();
  key.algorithm = json.at("algorithm").text();
  return key;
}

/// Keys that records of the first version lack.
std::string text_or_empty(const JsonReader& json, std::string_view key) {
  const auto value = json.find(key);
  return value ? value->text() : std::string();
}

/// None where there is no sample to take it from: a row that did not run, or another program's.
std::optional<double> of_samples(const Measurement& measured, double value) {
  return measured.samples > 0 ? std::optional(value) : std::nullopt;
}

/// None in records of before there were steps, and of other operations.
std::optional<StepVerdict> step_of(const JsonReader& row) {
  const auto json = row.find("step");
  return json ? std::optional(step_verdict_from_json(*json)) : std::nullopt;
}

/// The words of schema version 1, whose edges were others: what was within them may be too slow by today's.
constexpr std::array<std::pair<std::string_view, VerdictWord>, 3> kFirstWords{
    {{"as expected", VerdictWord::unclear},
     {"model or rank count wrong", VerdictWord::unclear},
     {"LOW", VerdictWord::below}}};

Verdict verdict_of(const JsonReader& json) {
  Verdict verdict{.explanation = text_or_empty(json, "explanation")};
  const auto value = json.find("verdict");
  if (!value) return verdict;
  const std::string text = value->text();
  const auto* first = std::find_if(kFirstWords.begin(), kFirstWords.end(),
                                   [&](const auto& word) { return word.first == text; });
  if (first != kFirstWords.end()) {
    verdict.word = first->second;
    if (verdict.word == VerdictWord::unclear)
      verdict.explanation =
          fmt::format("judged by an older version ({}): judge again. {}", text, verdict.explanation);
    return verdict;
  }
  verdict.word = word_from_json<VerdictWord>(*value, kVerdictNames, "the name of a verdict");
  if (const auto ratio = json.find("verdict_ratio")) verdict.ratio = ratio->optional_number(kQuantity);
  if (const auto range = json.find("healthy_range")) {
    verdict.range = HealthyRange{
        range->at("below").optional_number(kQuantity).value_or(0),
        range->at("sound").optional_number(kQuantity).value_or(std::numeric_limits<double>::infinity()),
        range->at("high").optional_number(kQuantity).value_or(0), range->at("source").text()};
  }
  if (const auto hidden = json.find("not_ruled_out"))
    for (const JsonReader& loss : hidden->items())
      verdict.hidden.push_back({loss.at("resource").text(), loss.at("share").number(kShare),
                                loss.at("text").text(),
                                loss.find("count") ? loss.at("count").integer<int>() : 0});
  return verdict;
}

Json hidden_json(const std::vector<HiddenLoss>& hidden) {
  Json list = Json::array();
  for (const HiddenLoss& loss : hidden)
    list.push_back(
        {{"resource", loss.resource}, {"share", loss.share}, {"text", loss.text}, {"count", loss.count}});
  return list;
}

Json range_json(const std::optional<HealthyRange>& range) {
  if (!range) return nullptr;
  return {{"below", range->below},
          {"sound", std::isfinite(range->sound) ? Json(range->sound) : Json(nullptr)},
          {"high", range->high},
          {"source", range->source}};
}

Measurement measurement_of(const JsonReader& json) {
  Measurement result;
  result.key = key_of(json);
  result.unavailable = json.at("unavailable").text();
  result.algorithm_ran = json.at("algorithm_ran").text();
  result.note = json.at("note").text();
  result.source = text_or_empty(json, "source");
  result.nccl = nccl_selection_in(json);
  result.seconds = json.at("seconds").optional_number(kSeconds).value_or(0);
  result.interval = interval_of(json);
  for (const JsonReader& pass : json.at("pass_seconds").items())
    result.pass_seconds.push_back(pass.optional_number(kSeconds).value_or(0));
  result.launch_passes = launch_passes_of(json, result.pass_seconds.size());
  result.pass_probes = pass_probes_of(json, result.pass_seconds.size());
  result.launch_variation = launch_variation_of(json);
  if (const auto states = json.find("states")) result.states = list_from_json(*states, row_state_of);
  result.stopped = stop_from_json(json.at("stopped"));
  result.iterations = json.at("iterations").integer<std::uint64_t>();
  result.iterations_per_sample = json.at("iterations_per_sample").integer<std::uint64_t>();
  if (const auto count = json.find("warmup_iterations"))
    result.warmup_iterations = count->integer<std::uint64_t>();
  result.samples = json.at("samples").integer<std::uint64_t>();
  const auto statistic = [&](std::string_view key) {
    const double value = json.at(key).optional_number(kSeconds).value_or(kNotFinite);
    return result.samples > 0 ? value : 0;
  };
  result.minimum = statistic("minimum_seconds");
  result.mean = statistic("mean_seconds");
  result.median = statistic("median_seconds");
  result.p95 = statistic("p95_seconds");
  result.p99 = statistic("p99_seconds");
  const auto variation = json.at("variation").optional_number(kQuantity);
  result.variation = result.samples > 0 ? variation.value_or(kNotFinite) : 0;
  result.ranks = rank_times_from_json(json.at("rank_times"));
  if (const auto wrong = json.find("wrong_elements")) result.wrong_elements = wrong->integer<std::uint64_t>();
  result.wrong = wrong_from_json(json.at("wrong"));
  result.enqueue_seconds = optional_number(json, "enqueue_seconds", kSeconds);
  if (const auto marks = json.find("marks")) result.marks = list_from_json(*marks, row_mark_from_json);
  return result;
}

}  // namespace

Json row_to_json(const Row& row, int ranks) {
  const Measurement& measured = row.measurement;
  const RowKey& key = measured.key;
  const Expectation& expected = row.expectation;
  return {{"operation", operation(key.operation).name},
          {"size_bytes", key.size_bytes},
          {"count", key.count},
          {"type", traits(key.type).name},
          {"reduction", or_null(key.reduction)},
          {"root", or_null(key.root)},
          {"in_place", key.in_place},
          {"algorithm", key.algorithm},
          {"unavailable", measured.unavailable},
          {"algorithm_ran", measured.algorithm_ran},
          {"note", measured.note},
          {"source", measured.source},
          {"nccl", nccl_selection_to_json(measured.nccl)},
          {"seconds", or_null(measured.seconds != 0 ? std::optional(measured.seconds) : std::nullopt)},
          {"interval", interval_json(measured.interval)},
          {"launch_variation", launch_variation_json(measured.launch_variation)},
          {"pass_seconds", measured.pass_seconds},
          {"launch_passes", measured.launch_passes},
          {"pass_probes", probes_to_json(measured.pass_probes)},
          {"states", array_of(measured.states, state_json)},
          {"stopped", measured.stopped ? format_stop(*measured.stopped) : ""},
          {"iterations", measured.iterations},
          {"iterations_per_sample", measured.iterations_per_sample},
          {"warmup_iterations", measured.warmup_iterations},
          {"samples", measured.samples},
          {"minimum_seconds", or_null(of_samples(measured, measured.minimum))},
          {"mean_seconds", or_null(of_samples(measured, measured.mean))},
          {"median_seconds", or_null(of_samples(measured, measured.median))},
          {"p95_seconds", or_null(of_samples(measured, measured.p95))},
          {"p99_seconds", or_null(of_samples(measured, measured.p99))},
          {"variation", or_null(of_samples(measured, measured.variation))},
          {"rank_times", rank_times_to_json(measured.ranks)},
          {"wrong_elements", or_null(measured.wrong_elements)},
          {"wrong", wrong_to_json(measured.wrong)},
          {"enqueue_seconds", or_null(measured.enqueue_seconds)},
          {"marks", array_of(measured.marks, row_mark_to_json)},
          {"ring_seconds", or_null(expected.ring_seconds)},
          {"tree_seconds", or_null(expected.tree_seconds)},
          {"nvls_seconds", or_null(expected.nvls_seconds)},
          {"expected_seconds", or_null(expected.expected_seconds)},
          {"expected_by", expected.expected_by},
          {"fastest_seconds", or_null(expected.fastest_seconds)},
          {"slowest_seconds", or_null(expected.slowest_seconds)},
          {"limited_by", expected.limited_by},
          {"verdict", row.verdict.word == VerdictWord::none ? Json(nullptr) : Json(name(row.verdict.word))},
          {"verdict_ratio", or_null(row.verdict.ratio)},
          {"healthy_range", range_json(row.verdict.range)},
          {"not_ruled_out", hidden_json(row.verdict.hidden)},
          {"explanation", row.verdict.explanation},
          {"step", row.step ? step_verdict_to_json(*row.step) : Json(nullptr)},
          {"rates", rates_json(rates(row, ranks))}};
}

Row row_from_json(const JsonReader& json) {
  Row row{
      measurement_of(json),
      {optional_number(json, "ring_seconds", kSeconds), optional_number(json, "tree_seconds", kSeconds),
       optional_number(json, "expected_seconds", kSeconds), json.at("expected_by").text(),
       optional_number(json, "fastest_seconds", kSeconds), optional_number(json, "slowest_seconds", kSeconds),
       text_or_empty(json, "limited_by"), optional_number(json, "nvls_seconds", kSeconds)},
      verdict_of(json),
      step_of(json)};
  // Older versions judged the time of wrong data.
  if (has_wrong_data(row.measurement)) row.verdict = {};
  return row;
}

}  // namespace collbench
