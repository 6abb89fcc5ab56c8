#include "base/record/straggler_probe.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/record/fields.hpp"
#include "base/statistics.hpp"

namespace collbench {
static void each_field(auto& visit, Either<RankLateness> auto& rank) {
  visit("rank", rank.rank);
  visit("entry_seconds", rank.entry_seconds, kDifference);
  visit("inside_seconds", rank.inside_seconds, kDifference);
  visit("message_seconds", rank.message_seconds, kDifference);
}

static void each_field(auto& visit, Either<ProbeFinding> auto& finding) {
  visit("code", finding.kind, WordOf{kProbeFindingNames, "the name of a finding"});
  visit("ranks", finding.ranks);
  visit("seconds", finding.seconds, kDifference);
  visit("ratio", finding.ratio, NumberOrNull{kQuantity});
  visit("seen", finding.seen);
  visit("probability", finding.probability, kShare);
  visit("text", finding.text);
}

static void each_field(auto& visit, Either<RankProbe> auto& probe) {
  visit("repetitions", probe.repetitions);
  visit("seconds", probe.seconds, kSeconds);
  visit("clock_uncertainty_seconds", probe.clock_uncertainty_seconds);
  visit("ranks", probe.ranks, Columns{"four arrays of one length"});
  visit("findings", probe.findings);
}

static void each_field(auto& visit, Either<StepFinding> auto& finding) {
  visit("cause", finding.cause, WordOf{kStepCauseNames, "the cause of a slow step"});
  visit("ranks", finding.ranks);
  visit("seconds", finding.seconds, kDifference);
  visit("ratio", finding.ratio, NumberOrNull{kQuantity});
  visit("text", finding.text);
}

static void each_field(auto& visit, Either<StepVerdict> auto& verdict) {
  visit("verdict", verdict.word, WordOf{kStepWordNames, "what can be said of a step"});
  visit("findings", verdict.findings);
  visit("text", verdict.text);
}

Json rank_probe_to_json(const RankProbe& probe) { return record_to_json(probe); }

RankProbe rank_probe_from_json(const JsonReader& json) { return record_from_json<RankProbe>(json); }

Json step_verdict_to_json(const StepVerdict& verdict) { return record_to_json(verdict); }

StepVerdict step_verdict_from_json(const JsonReader& json) { return record_from_json<StepVerdict>(json); }

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
