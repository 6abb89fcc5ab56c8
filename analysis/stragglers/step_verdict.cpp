#include "analysis/stragglers/step_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMinRanksOfScatter = 3;
/// A thread that ran less of its kernel's time did not have its core to itself.
constexpr double kOwnCoreShare = 0.97;
/// More of the ranks beyond a line are a kind of ranks, and no stragglers.
constexpr double kMaxNamedShare = 1.0 / 3;
/// So much of a step that the AllReduce takes beyond itself alone is worth a word.
constexpr double kWaitingShare = 0.05;

std::vector<double> values_of(const Measurement& measured, double StepTimes::* figure) {
  std::vector<double> values;
  for (const RankTimes& times : measured.ranks) {
    if (times.step) values.push_back((*times.step).*figure);
  }
  return values;
}

/// Six robust standard deviations of the ranks; 0 of fewer than three, which scatter by nothing that is
/// known.
double scatter_of(const std::vector<double>& values) {
  constexpr double kSigmas = 6;
  constexpr double kOfNormal = 1.4826;  // a normal distribution's standard deviation over its MAD
  if (values.size() < kMinRanksOfScatter) return 0;
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return kSigmas * kOfNormal * median(std::move(distances));
}

std::string rank_on_host(int rank, const Identities& ranks) {
  const bool known = std::cmp_less(rank, ranks.size());
  return fmt::format("rank {}{}", rank,
                     known ? fmt::format(" on {}", ranks[static_cast<std::size_t>(rank)].host) : "");
}

std::string share_of_step(double seconds, double step) {
  return fmt::format("{} % of a step", format_significant(100 * seconds / step, 2, 6));
}

/// What else the kernel's own account of its time says of a slow one.
std::string why_compute_is_slow(const StepTimes& own, double others_cpu_seconds) {
  if (own.compute_cpu_seconds <= 0 || own.compute_seconds <= 0) return "";
  const double share = own.compute_cpu_seconds / own.compute_seconds;
  const bool is_slow_itself = own.compute_cpu_seconds > (1 + kSlowComputeShare) * others_cpu_seconds;
  if (share < kOwnCoreShare && !is_slow_itself) {
    return fmt::format("; its thread ran {:.0f} % of that time: something else is on its core", 100 * share);
  }
  return fmt::format(
      "; its thread ran {:.0f} % of that time, and {:.2f} times as long as the others': the core, its clock "
      "or its memory is slower, or the other hardware thread of the core is busy",
      100 * share, own.compute_cpu_seconds / others_cpu_seconds);
}

/// Judges one row.
class StepJudge {
 public:
  StepJudge(const Measurement& measured, const Identities& ranks)
      : measured_(measured),
        ranks_(ranks),
        middle_(median_step(measured)),
        step_(middle_.compute_seconds + middle_.between_seconds + middle_.inside_seconds) {}

  /// Those beyond the lines in one figure.
  [[nodiscard]] std::vector<StepFinding> beyond(StepCause cause, double StepTimes::* figure,
                                                double StepTimes::* excess) const {
    const std::vector<double> all = values_of(measured_, figure);
    const std::vector<double> above = above_others(all);
    const std::vector<double> cpu_above = above_others(values_of(measured_, &StepTimes::compute_cpu_seconds));
    const double scatter = scatter_of(all);
    const double own_share = cause == StepCause::compute ? kSlowComputeShare * middle_.*figure : 0;
    const double line = std::max({kMinStepSeconds, kMinStepShare * step_, own_share});
    std::vector<StepFinding> found;
    for (std::size_t i = 0; i < measured_.ranks.size(); ++i) {
      const StepTimes& own = *measured_.ranks[i].step;
      if (own.*excess < line || above[i] < std::max(line, scatter)) continue;
      const double others = own.*figure - above[i];
      found.push_back({.cause = cause,
                       .ranks = {measured_.ranks[i].rank},
                       .seconds = above[i],
                       .ratio = cause == StepCause::compute && others > 0 ? own.*figure / others : 0,
                       .text = {}});
      found.back().text = cause == StepCause::compute ? compute_text(found.back(), own, others,
                                                                     own.compute_cpu_seconds - cpu_above[i])
                                                      : late_text(found.back(), own);
    }
    return found;
  }

  [[nodiscard]] double step_seconds() const { return step_; }
  [[nodiscard]] const StepTimes& middle() const { return middle_; }

 private:
  [[nodiscard]] std::string compute_text(const StepFinding& finding, const StepTimes& own, double others,
                                         double others_cpu_seconds) const {
    return fmt::format(
        "{} is slow in compute: {} a step against {} of {} ({:.2f} times); the others wait {} ({}){}",
        rank_on_host(finding.ranks[0], ranks_), format_seconds(own.compute_seconds), format_seconds(others),
        measured_.ranks.size() == 2 ? "the other rank" : "the others' median", finding.ratio,
        format_seconds(finding.seconds), share_of_step(finding.seconds, step_),
        why_compute_is_slow(own, others_cpu_seconds));
  }

  [[nodiscard]] std::string late_text(const StepFinding& finding, const StepTimes& own) const {
    return fmt::format(
        "{} is late, and neither in compute nor in communication: {} of each step ({}) pass outside of both, "
        "{} more than of the others; in a training job that is input data, a checkpoint, the interpreter or "
        "the operating system",
        rank_on_host(finding.ranks[0], ranks_), format_seconds(own.between_seconds),
        share_of_step(own.between_seconds, step_), format_seconds(finding.seconds));
  }

  const Measurement& measured_;
  const Identities& ranks_;
  StepTimes middle_;
  double step_ = 0;
};

/// A slow link costs the AllReduce of every rank; by how much of a step is not known without it.
std::vector<StepFinding> slow_links(const RankProbe* probe, const StepTimes& middle, double step) {
  std::vector<StepFinding> found;
  if (probe == nullptr) return found;
  for (const ProbeFinding& each : probe->findings) {
    if (each.kind == ProbeFindingKind::late_rank) continue;
    found.push_back({.cause = StepCause::link,
                     .ranks = each.ranks,
                     .seconds = 0,
                     .ratio = each.ratio,
                     .text = fmt::format("{}; the AllReduce, which every rank waits for, is {}", each.text,
                                         share_of_step(middle.alone_seconds, step))});
  }
  return found;
}

/// Where nobody is beyond the lines, and the ranks wait for each other all the same.
std::string waiting_text(const StepTimes& middle, double step) {
  const double waiting = middle.inside_seconds - middle.alone_seconds;
  if (waiting < kWaitingShare * step || waiting < kMinStepSeconds) return "";
  return fmt::format(
      "the AllReduce takes {} longer in a step than alone ({}): ranks wait for whoever is last, another one "
      "in each step, or it finds less in its caches behind the compute; these two cannot be told apart",
      format_seconds(waiting), share_of_step(waiting, step));
}

std::string too_few_text(const Measurement& measured) {
  const bool are_known =
      std::ranges::all_of(measured.ranks, [](const RankTimes& times) { return times.step.has_value(); });
  if (measured.ranks.empty() || !are_known) return "what each rank did in a step is not known";
  if (measured.ranks.size() < 2) return "one rank waits for nobody";
  if (std::cmp_less(measured.pass_seconds.size(), kMinStepPasses)) {
    return fmt::format("{} of {} passes that it takes to name somebody: use a longer --time or more --passes",
                       measured.pass_seconds.size(), kMinStepPasses);
  }
  return "";
}

}  // namespace

StepTimes median_step(const Measurement& measured) {
  std::vector<StepTimes> all;
  for (const RankTimes& times : measured.ranks)
    if (times.step) all.push_back(*times.step);
  return median_of(all);
}

StepVerdict step_verdict(const Measurement& measured, const Identities& ranks, const RankProbe* probe,
                         const std::string& obstacle) {
  if (!obstacle.empty()) return {.word = StepWord::not_judged, .findings = {}, .text = obstacle};
  if (std::string few = too_few_text(measured); !few.empty())
    return {.word = StepWord::too_few, .findings = {}, .text = std::move(few)};
  const StepJudge judge(measured, ranks);
  StepVerdict verdict;
  const auto take = [&](std::vector<StepFinding> found, std::string_view what) {
    const auto most = std::max(1.0, kMaxNamedShare * static_cast<double>(measured.ranks.size()));
    if (static_cast<double>(found.size()) <= most) {
      std::move(found.begin(), found.end(), std::back_inserter(verdict.findings));
      return;
    }
    verdict.word = StepWord::ambiguous;
    verdict.text += fmt::format("{}{} of {} ranks {}: two kinds of ranks, and no stragglers among alike ones",
                                verdict.text.empty() ? "" : "; ", found.size(), measured.ranks.size(), what);
  };
  take(judge.beyond(StepCause::compute, &StepTimes::compute_seconds, &StepTimes::compute_excess_seconds),
       "compute for longer than the others");
  take(judge.beyond(StepCause::late, &StepTimes::between_seconds, &StepTimes::between_excess_seconds),
       "are late for another reason than compute");
  std::ranges::sort(verdict.findings, std::ranges::greater{}, &StepFinding::seconds);
  const auto links = slow_links(probe, judge.middle(), judge.step_seconds());
  verdict.findings.insert(verdict.findings.end(), links.begin(), links.end());
  if (!verdict.findings.empty()) {
    verdict.word = StepWord::named;
    return verdict;
  }
  if (verdict.word == StepWord::ambiguous) return verdict;
  verdict.text = waiting_text(judge.middle(), judge.step_seconds());
  if (!verdict.text.empty()) verdict.word = StepWord::ambiguous;
  return verdict;
}

void merge_steps(Run& merged, const std::vector<Run>& launches) {
  for (std::size_t i = 0; i < merged.rows.size(); ++i) {
    std::vector<RankTimes>& ranks = merged.rows[i].measurement.ranks;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      std::vector<StepTimes> all;
      for (const Run& launch : launches) {
        const std::vector<RankTimes>& own = launch.rows[i].measurement.ranks;
        if (rank < own.size() && own[rank].step) all.push_back(*own[rank].step);
      }
      if (ranks[rank].step) ranks[rank].step = median_of(all);
    }
  }
  tell_steps(merged);
}

void tell_steps(Run& run) {
  std::string obstacle;
  for (const std::string& note : run.environment_notes)
    if (note.starts_with(kNotProbed)) obstacle = note.substr(kNotProbed.size());
  const RankProbe* const probe = run.rank_probe ? &*run.rank_probe : nullptr;
  for (Row& row : run.rows) {
    const Measurement& measured = row.measurement;
    const bool is_step = measured.key.operation == OperationId::step && measured.seconds > 0;
    row.step = is_step ? std::optional(step_verdict(measured, run.ranks, probe, obstacle)) : std::nullopt;
  }
}

}  // namespace collbench::analysis
