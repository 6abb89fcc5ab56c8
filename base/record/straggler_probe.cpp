#include "base/record/straggler_probe.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/statistics.hpp"

namespace collbench {
namespace {

std::vector<int> ranks_from_json(const JsonReader& json) {
  return list_from_json(json, [](const JsonReader& rank) { return rank.integer<int>(); });
}

Json probe_finding_json(const ProbeFinding& finding) {
  return {{"code", name(finding.kind)}, {"ranks", finding.ranks}, {"seconds", finding.seconds},
          {"ratio", finding.ratio},     {"seen", finding.seen},   {"probability", finding.probability},
          {"text", finding.text}};
}

Json step_finding_json(const StepFinding& finding) {
  return {{"cause", name(finding.cause)},
          {"ranks", finding.ranks},
          {"seconds", finding.seconds},
          {"ratio", finding.ratio},
          {"text", finding.text}};
}

}  // namespace

Json rank_probe_to_json(const RankProbe& probe) {
  // One array per figure, as of a row's rank times.
  Json ranks = {{"rank", Json::array()},
                {"entry_seconds", Json::array()},
                {"inside_seconds", Json::array()},
                {"message_seconds", Json::array()}};
  for (const RankLateness& rank : probe.ranks) {
    ranks["rank"].push_back(rank.rank);
    ranks["entry_seconds"].push_back(rank.entry_seconds);
    ranks["inside_seconds"].push_back(rank.inside_seconds);
    ranks["message_seconds"].push_back(rank.message_seconds);
  }
  return {{"repetitions", probe.repetitions},
          {"seconds", probe.seconds},
          {"clock_uncertainty_seconds", probe.clock_uncertainty_seconds},
          {"ranks", std::move(ranks)},
          {"findings", array_of(probe.findings, probe_finding_json)}};
}

RankProbe rank_probe_from_json(const JsonReader& json) {
  RankProbe probe;
  probe.repetitions = json.at("repetitions").integer<int>();
  probe.seconds = json.at("seconds").number(kSeconds);
  probe.clock_uncertainty_seconds = json.at("clock_uncertainty_seconds").number(kQuantity);
  const JsonReader columns = json.at("ranks");
  const auto ranks = columns.at("rank").items();
  const auto entries = columns.at("entry_seconds").items();
  const auto inside = columns.at("inside_seconds").items();
  const auto messages = columns.at("message_seconds").items();
  if (entries.size() != ranks.size() || inside.size() != ranks.size() || messages.size() != ranks.size()) {
    throw columns.expected("four arrays of one length");
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    probe.ranks.push_back({ranks[i].integer<int>(), entries[i].number(kDifference),
                           inside[i].number(kDifference), messages[i].number(kDifference)});
  }
  for (const JsonReader& finding : json.at("findings").items()) {
    ProbeFinding& found = probe.findings.emplace_back();
    found.kind =
        word_from_json<ProbeFindingKind>(finding.at("code"), kProbeFindingNames, "the name of a finding");
    found.ranks = ranks_from_json(finding.at("ranks"));
    found.seconds = finding.at("seconds").number(kDifference);
    found.ratio = finding.at("ratio").optional_number(kQuantity).value_or(kNotFinite);
    found.seen = finding.at("seen").integer<int>();
    found.probability = finding.at("probability").number(kShare);
    found.text = finding.at("text").text();
  }
  return probe;
}

Json step_verdict_to_json(const StepVerdict& verdict) {
  return {{"verdict", name(verdict.word)},
          {"findings", array_of(verdict.findings, step_finding_json)},
          {"text", verdict.text}};
}

StepVerdict step_verdict_from_json(const JsonReader& json) {
  StepVerdict verdict;
  verdict.word = word_from_json<StepWord>(json.at("verdict"), kStepWordNames, "what can be said of a step");
  for (const JsonReader& each : json.at("findings").items()) {
    StepFinding finding;
    finding.cause = word_from_json<StepCause>(each.at("cause"), kStepCauseNames, "the cause of a slow step");
    finding.ranks = ranks_from_json(each.at("ranks"));
    finding.seconds = each.at("seconds").number(kDifference);
    finding.ratio = each.at("ratio").optional_number(kQuantity).value_or(kNotFinite);
    finding.text = each.at("text").text();
    verdict.findings.push_back(std::move(finding));
  }
  verdict.text = json.at("text").text();
  return verdict;
}

StepTimes median_of(const std::vector<StepTimes>& steps) {
  StepTimes middle;
  if (steps.empty()) return middle;
  for (const StepFigure& figure : kStepFigures) {
    std::vector<double> values;
    for (const StepTimes& each : steps) values.push_back(each.*figure.value);
    middle.*figure.value = median(std::move(values));
  }
  return middle;
}

std::vector<double> above_others(const std::vector<double>& values) {
  std::vector<double> above(values.size(), 0);
  if (values.size() < 2) return above;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const std::size_t others = values.size() - 1;
  for (std::size_t position = 0; position < order.size(); ++position) {
    // Of the sorted ones without this.
    const auto other = [&](std::size_t i) { return values[order[i < position ? i : i + 1]]; };
    const double middle =
        others % 2 == 1 ? other(others / 2) : (other(others / 2 - 1) + other(others / 2)) / 2;
    above[order[position]] = values[order[position]] - middle;
  }
  return above;
}

}  // namespace collbench
