#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/fields.hpp"

namespace collbench {

/// What a message took between two ranks, or two hosts' first ranks.
struct PairTime {
  int from = 0;
  int to = 0;
  double seconds = 0;

  bool operator==(const PairTime&) const = default;
};

/// One probe of the ranks one by one, between two passes (docs/statistics.md).
struct ProbeRepetition {
  std::vector<double>
      entry_seconds;  ///< by rank: how much later than the others it entered a small AllReduce
  std::vector<double> inside_seconds;    ///< by rank: how long it was inside
  double clock_uncertainty_seconds = 0;  ///< of the clocks by which entries are compared, the worst rank's
  std::vector<PairTime> latencies;       ///< of 8 B, between ranks that stand for both directions
  std::vector<PairTime> transfers;       ///< of a large message one way, between the first ranks of hosts
};

/// One rank over all repetitions: medians.
struct RankLateness {
  int rank = 0;
  double entry_seconds = 0;
  double inside_seconds = 0;
  double message_seconds = 0;  ///< how much longer than others' its quickest partner waits for 8 B

  bool operator==(const RankLateness&) const = default;
};

enum class ProbeFindingKind { late_rank, slow_sender, slow_receiver, slow_link };

/// As records write them.
template <>
inline constexpr std::array<std::string_view, 4> kWords<ProbeFindingKind>{"late rank", "slow sender",
                                                                          "slow receiver", "slow link"};

/// A rank that is late, or a link that is slow, beyond chance.
struct ProbeFinding {
  ProbeFindingKind kind = ProbeFindingKind::late_rank;
  std::vector<int> ranks;  ///< the rank; or the first ranks of the hosts, sender first
  double seconds = 0;      ///< lost per call (late rank)
  double ratio = 0;        ///< time over that of alike pairs (links)
  int seen = 0;            ///< repetitions that showed it
  double probability = 0;  ///< of that by chance, over all that were looked at
  std::string text;        ///< for a person: who, by how much, what it costs

  bool operator==(const ProbeFinding&) const = default;
};

/// Who was late, over the whole run.
struct RankProbe {
  int repetitions = 0;
  double seconds = 0;  ///< that it took
  double clock_uncertainty_seconds = 0;
  std::vector<RankLateness> ranks;
  std::vector<ProbeFinding> findings;

  bool operator==(const RankProbe&) const = default;
};

void each_field(auto& visit, Either<RankLateness> auto& rank) {
  visit("rank", rank.rank);
  visit("entry_seconds", rank.entry_seconds, kDifference);
  visit("inside_seconds", rank.inside_seconds, kDifference);
  visit("message_seconds", rank.message_seconds, kDifference);
}

void each_field(auto& visit, Either<ProbeFinding> auto& finding) {
  visit("code", finding.kind, WordOf{kWords<ProbeFindingKind>, "the name of a finding"});
  visit("ranks", finding.ranks);
  visit("seconds", finding.seconds, kDifference);
  visit("ratio", finding.ratio, NumberOrNull{kQuantity});
  visit("seen", finding.seen);
  visit("probability", finding.probability, kShare);
  visit("text", finding.text);
}

void each_field(auto& visit, Either<RankProbe> auto& probe) {
  visit("repetitions", probe.repetitions);
  visit("seconds", probe.seconds, kSeconds);
  visit("clock_uncertainty_seconds", probe.clock_uncertainty_seconds);
  visit("ranks", probe.ranks, Columns{"four arrays of one length"});
  visit("findings", probe.findings);
}

// The same of a training step, which says who makes the others wait in it, and why.

/// What a training step (compute, then AllReduce) was on one rank: seconds of a step. Of a block the means
/// over its steps, of a row the medians over blocks.
struct StepTimes {
  double compute_seconds = 0;      ///< of the compute kernel, whose arithmetic is the same on every rank
  double compute_cpu_seconds = 0;  ///< that its thread ran of that time; 0: not known
  double between_seconds = 0;      ///< in neither the kernel nor the AllReduce
  double inside_seconds = 0;  ///< from its entry into the AllReduce until it returned, its waiting included
  double alone_seconds = 0;   ///< of the same AllReduce behind the block, without compute
  /// How much longer than the median of the other ranks: of a row what three of four blocks exceed.
  double compute_excess_seconds = 0;
  double between_excess_seconds = 0;

  bool operator==(const StepTimes&) const = default;
};

/// A figure of StepTimes and its column in records.
struct StepFigure {
  const char* key;
  double StepTimes::* value;
  NumberRange range;
};

inline constexpr std::array<StepFigure, 7> kStepFigures{{
    {"compute_seconds", &StepTimes::compute_seconds, kQuantity},
    {"compute_cpu_seconds", &StepTimes::compute_cpu_seconds, kQuantity},
    {"between_seconds", &StepTimes::between_seconds, kDifference},
    {"inside_seconds", &StepTimes::inside_seconds, kQuantity},
    {"alone_seconds", &StepTimes::alone_seconds, kQuantity},
    {"compute_excess_seconds", &StepTimes::compute_excess_seconds, kDifference},
    {"between_excess_seconds", &StepTimes::between_excess_seconds, kDifference},
}};

/// Why a rank makes the others wait in a step.
enum class StepCause {
  compute,  ///< its kernel takes longer than that of the others
  link,     ///< messages from or to its host are slow
  late,     ///< neither: it is late between its kernel and the AllReduce, or before its kernel
};

template <>
inline constexpr std::array<std::string_view, 3> kWords<StepCause>{"slow in compute", "slow link", "late"};

/// Who makes the others wait, and why.
struct StepFinding {
  StepCause cause = StepCause::compute;
  std::vector<int> ranks;  ///< the rank; of a link the first ranks of its hosts, the sender first
  double seconds = 0;      ///< of each step beyond the others; 0 of a link: not known
  double ratio = 0;        ///< over the others' median (compute); 0: none
  std::string text;        ///< for a person, with its evidence

  bool operator==(const StepFinding&) const = default;
};

/// What can be said of a row of steps.
enum class StepWord {
  nobody,      ///< looked at often enough, and no rank is beyond the lines
  named,       ///< somebody is
  too_few,     ///< ranks or passes
  ambiguous,   ///< somebody is waited for, and who or why cannot be told apart
  not_judged,  ///< ranks share cores or a GPU
};

template <>
inline constexpr std::array<std::string_view, 5> kWords<StepWord>{"nobody is slow", "named", "too few to say",
                                                                  "cannot be told apart", "not judged"};

struct StepVerdict {
  StepWord word = StepWord::nobody;
  std::vector<StepFinding> findings;  ///< who is waited for most first
  std::string text;                   ///< what is to be said beside them: why nobody is named, by which lines

  bool operator==(const StepVerdict&) const = default;
};

void each_field(auto& visit, Either<StepFinding> auto& finding) {
  visit("cause", finding.cause, WordOf{kWords<StepCause>, "the cause of a slow step"});
  visit("ranks", finding.ranks);
  visit("seconds", finding.seconds, kDifference);
  visit("ratio", finding.ratio, NumberOrNull{kQuantity});
  visit("text", finding.text);
}

void each_field(auto& visit, Either<StepVerdict> auto& verdict) {
  visit("verdict", verdict.word, WordOf{kWords<StepWord>, "what can be said of a step"});
  visit("findings", verdict.findings);
  visit("text", verdict.text);
}

/// The median of each figure; 0 of none.
[[nodiscard]] StepTimes median_of(const std::vector<StepTimes>& steps);

/// Of each value, how much it is above the median of the others; 0 of a single one.
[[nodiscard]] std::vector<double> above_others(const std::vector<double>& values);

}  // namespace collbench
