#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"

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
inline constexpr std::array<std::string_view, 4> kProbeFindingNames{"late rank", "slow sender",
                                                                    "slow receiver", "slow link"};

[[nodiscard]] constexpr std::string_view name(ProbeFindingKind kind) {
  return kProbeFindingNames.at(static_cast<std::size_t>(kind));
}

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

/// Who was late, as a run record holds it (docs/formats.md).
[[nodiscard]] Json rank_probe_to_json(const RankProbe& probe);

/// Throws Error (usage) that names the place in the file.
[[nodiscard]] RankProbe rank_probe_from_json(const JsonReader& json);

}  // namespace collbench
