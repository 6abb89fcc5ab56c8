#include "base/record/measured_block.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "base/record/nccl_selection.hpp"

namespace collbench {
namespace {

/// The double with the fewest digits that is the same float: half as many as the float's own value has.
double min_digits(float value) {
  const std::string text = fmt::format("{}", value);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

}  // namespace

Json block_to_json(const MeasuredBlock& block) {
  Json samples = Json::array();
  for (const float sample : block.samples) samples.push_back(min_digits(sample));
  return {{"row", block.row},
          {"pass", block.pass},
          {"seconds", block.seconds},
          {"iterations", block.iterations},
          {"iterations_per_sample", block.iterations_per_sample},
          {"samples_seconds", std::move(samples)},
          {"rank_times", rank_times_to_json(block.ranks)},
          {"enqueue_seconds", or_null(block.enqueue_seconds)},
          {"wrong_elements", or_null(block.wrong_elements)},
          {"wrong", wrong_to_json(block.wrong)},
          {"nccl", nccl_selection_to_json(block.nccl)}};
}

MeasuredBlock block_from_json(const JsonReader& json, std::size_t rows, std::size_t ranks) {
  MeasuredBlock block;
  block.row = json.at("row").integer<std::size_t>();
  if (block.row >= rows) throw json.at("row").expected(fmt::format("a row below {}", rows));
  block.pass = json.at("pass").integer<int>();
  block.seconds = json.at("seconds").number();
  block.iterations = json.at("iterations").integer<std::uint64_t>();
  block.iterations_per_sample = json.at("iterations_per_sample").integer<std::uint64_t>();
  for (const JsonReader& sample : json.at("samples_seconds").items()) {
    block.samples.push_back(static_cast<float>(sample.number()));
  }
  block.ranks = rank_times_from_json(json.at("rank_times"));
  if (block.ranks.size() != ranks) {
    throw json.at("rank_times").expected(fmt::format("the times of {} ranks", ranks));
  }
  block.enqueue_seconds = optional_number(json, "enqueue_seconds");
  if (const auto wrong = json.find("wrong_elements")) block.wrong_elements = wrong->integer<std::uint64_t>();
  block.wrong = wrong_from_json(json.at("wrong"));
  block.nccl = nccl_selection_in(json);
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
  return result;
}

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
    RankTimes times{ranks[i].integer<int>(), medians[i].number(), p99s[i].number()};
    if (counted && !std::isnan(faults[i].number())) times.page_faults = faults[i].number();
    result.push_back(times);
  }
  return result;
}

Json wrong_to_json(const std::vector<WrongElements>& wrong) {
  Json result = Json::array();
  for (const WrongElements& found : wrong) {
    result.push_back({{"rank", found.rank},
                      {"host", found.host},
                      {"count", found.count},
                      {"first_index", found.first_index},
                      {"expected", found.expected},
                      {"got", found.got}});
  }
  return result;
}

std::vector<WrongElements> wrong_from_json(const JsonReader& json) {
  std::vector<WrongElements> result;
  for (const JsonReader& wrong : json.items()) {
    result.push_back({wrong.at("rank").integer<int>(), wrong.at("host").text(),
                      wrong.at("count").integer<std::uint64_t>(),
                      wrong.at("first_index").integer<std::uint64_t>(), wrong.at("expected").text(),
                      wrong.at("got").text()});
  }
  return result;
}

}  // namespace collbench
