#include "base/record/row_json.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/record/rates.hpp"
#include "base/units.hpp"

namespace collbench {
namespace {

Json interval_json(const std::optional<TimeInterval>& interval) {
  if (!interval) return nullptr;
  return {{"low_seconds", interval->low_seconds},
          {"high_seconds", interval->high_seconds},
          {"confidence", interval->confidence}};
}

/// One array per figure: a third of the bytes of one object per rank, and a column for scripts.
Json rank_times_json(const std::vector<RankTimes>& ranks) {
  Json result = {{"rank", Json::array()}, {"median_seconds", Json::array()}, {"p99_seconds", Json::array()}};
  for (const RankTimes& times : ranks) {
    result["rank"].push_back(times.rank);
    result["median_seconds"].push_back(times.median_seconds);
    result["p99_seconds"].push_back(times.p99_seconds);
  }
  return result;
}

Json wrong_json(const WrongElements& wrong) {
  return {{"rank", wrong.rank},         {"host", wrong.host},
          {"count", wrong.count},       {"first_index", wrong.first_index},
          {"expected", wrong.expected}, {"got", wrong.got}};
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
  return TimeInterval{json->at("low_seconds").number(), json->at("high_seconds").number(),
                      json->at("confidence").number()};
}

std::vector<RankTimes> rank_times_of(const JsonReader& json) {
  const auto ranks = json.at("rank").items();
  const auto medians = json.at("median_seconds").items();
  const auto p99s = json.at("p99_seconds").items();
  if (medians.size() != ranks.size() || p99s.size() != ranks.size()) {
    throw json.expected("three arrays of one length");
  }
  std::vector<RankTimes> result;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    result.push_back({ranks[i].integer<int>(), medians[i].number(), p99s[i].number()});
  }
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

VerdictWord verdict_of(const JsonReader& json) {
  const auto value = json.find("verdict");
  if (!value) return VerdictWord::none;
  const auto* found = std::find(kVerdictNames.begin(), kVerdictNames.end(), value->text());
  if (found == kVerdictNames.end()) throw value->expected("the name of a verdict");
  return static_cast<VerdictWord>(found - kVerdictNames.begin());
}

/// NaN is null, which stands for a row without a time.
double or_zero(double value) { return std::isnan(value) ? 0 : value; }

Measurement measurement_of(const JsonReader& json) {
  Measurement result;
  result.key = key_of(json);
  result.unavailable = json.at("unavailable").text();
  result.algorithm_ran = json.at("algorithm_ran").text();
  result.note = json.at("note").text();
  result.seconds = or_zero(json.at("seconds").number());
  result.interval = interval_of(json);
  for (const JsonReader& pass : json.at("pass_seconds").items()) result.pass_seconds.push_back(pass.number());
  result.stopped = json.at("stopped").text();
  result.iterations = json.at("iterations").integer<std::uint64_t>();
  result.iterations_per_sample = json.at("iterations_per_sample").integer<std::uint64_t>();
  result.samples = json.at("samples").integer<std::uint64_t>();
  const auto statistic = [&](std::string_view key) {
    const double value = json.at(key).number();
    return result.samples > 0 ? value : 0;
  };
  result.minimum = statistic("minimum_seconds");
  result.mean = statistic("mean_seconds");
  result.median = statistic("median_seconds");
  result.p95 = statistic("p95_seconds");
  result.p99 = statistic("p99_seconds");
  result.variation = statistic("variation");
  result.ranks = rank_times_of(json.at("rank_times"));
  if (const auto wrong = json.find("wrong_elements")) result.wrong_elements = wrong->integer<std::uint64_t>();
  for (const JsonReader& wrong : json.at("wrong").items()) {
    result.wrong.push_back({wrong.at("rank").integer<int>(), wrong.at("host").text(),
                            wrong.at("count").integer<std::uint64_t>(),
                            wrong.at("first_index").integer<std::uint64_t>(), wrong.at("expected").text(),
                            wrong.at("got").text()});
  }
  return result;
}

}  // namespace

Json row_to_json(const Row& row, int ranks) {
  const Measurement& measured = row.measurement;
  const RowKey& key = measured.key;
  const Expectation& expected = row.expectation;
  Json wrong = Json::array();
  for (const WrongElements& elements : measured.wrong) wrong.push_back(wrong_json(elements));
  return {{"operation", operation(key.operation).name},
          {"size_bytes", key.size_bytes},
          {"count", key.count},
          {"type", traits(key.type).name},
          {"reduction", or_null(key.reduction)},
          {"in_place", key.in_place},
          {"algorithm", key.algorithm},
          {"unavailable", measured.unavailable},
          {"algorithm_ran", measured.algorithm_ran},
          {"note", measured.note},
          {"seconds", or_null(measured.seconds != 0 ? std::optional(measured.seconds) : std::nullopt)},
          {"interval", interval_json(measured.interval)},
          {"pass_seconds", measured.pass_seconds},
          {"stopped", measured.stopped},
          {"iterations", measured.iterations},
          {"iterations_per_sample", measured.iterations_per_sample},
          {"samples", measured.samples},
          {"minimum_seconds", or_null(of_samples(measured, measured.minimum))},
          {"mean_seconds", or_null(of_samples(measured, measured.mean))},
          {"median_seconds", or_null(of_samples(measured, measured.median))},
          {"p95_seconds", or_null(of_samples(measured, measured.p95))},
          {"p99_seconds", or_null(of_samples(measured, measured.p99))},
          {"variation", or_null(of_samples(measured, measured.variation))},
          {"rank_times", rank_times_json(measured.ranks)},
          {"wrong_elements", or_null(measured.wrong_elements)},
          {"wrong", std::move(wrong)},
          {"ring_seconds", or_null(expected.ring_seconds)},
          {"tree_seconds", or_null(expected.tree_seconds)},
          {"expected_seconds", or_null(expected.expected_seconds)},
          {"expected_by", expected.expected_by},
          {"fastest_seconds", or_null(expected.fastest_seconds)},
          {"slowest_seconds", or_null(expected.slowest_seconds)},
          {"limited_by", expected.limited_by},
          {"verdict", name(row.verdict.word)},
          {"explanation", row.verdict.explanation},
          {"rates", rates_json(rates(row, ranks))}};
}

Row row_from_json(const JsonReader& json) {
  return {measurement_of(json),
          {optional_number(json, "ring_seconds"), optional_number(json, "tree_seconds"),
           optional_number(json, "expected_seconds"), json.at("expected_by").text(),
           optional_number(json, "fastest_seconds"), optional_number(json, "slowest_seconds"),
           text_or_empty(json, "limited_by")},
          {verdict_of(json), text_or_empty(json, "explanation")}};
}

}  // namespace collbench
