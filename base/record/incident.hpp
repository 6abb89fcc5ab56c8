#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/fields.hpp"

// What happened to a run beside what it measured.

namespace collbench {

enum class IncidentKind {
  hang,         ///< no rank made progress for the timeout
  rank_lost,    ///< a rank's process ended without having been asked to
  error,        ///< a library, or collbench itself, failed
  interrupted,  ///< somebody asked the run to end: Ctrl-C, SIGTERM
};

template <>
inline constexpr std::array<std::string_view, 4> kWords<IncidentKind>{"hang", "rank lost", "error",
                                                                      "interrupted"};

struct IncidentRank {
  int rank = 0;
  std::string host;

  bool operator==(const IncidentRank&) const = default;
};

/// What ended a run before its end.
struct Incident {
  IncidentKind kind = IncidentKind::error;
  std::string sentence;             ///< what the user was told, without what to do next
  std::vector<IncidentRank> ranks;  ///< who is to blame; empty where that is not known
  std::string step;                 ///< that this rank, or the one that tells, was in: "AllReduce 64 KiB"
  int pass = 0;                     ///< counted from 1; 0 before the first
  std::uint64_t call = 0;           ///< of the operation in this step, from 1; 0 before the first
  std::string time;                 ///< UTC, ISO 8601
  int exit_status = 0;              ///< collbench's own (docs/formats.md); mpirun's may be another one

  bool operator==(const Incident&) const = default;
};

/// A rank's process was stopped for a while, and went on.
struct RankPause {
  int rank = 0;
  std::string host;
  std::string step;    ///< that it was in
  int pass = 0;        ///< counted from 1; 0 before the first
  double seconds = 0;  ///< seen from another process, to about a quarter of a second

  bool operator==(const RankPause&) const = default;
};

void each_field(auto& visit, Either<IncidentRank> auto& each) {
  visit("rank", each.rank);
  visit("host", each.host, RankHost{});
}

void each_field(auto& visit, Either<Incident> auto& incident) {
  visit("kind", incident.kind);
  visit("sentence", incident.sentence);
  visit("ranks", incident.ranks);
  visit("step", incident.step);
  visit("pass", incident.pass);
  visit("call", incident.call);
  visit("time", incident.time);
  visit("exit_status", incident.exit_status);
}

void each_field(auto& visit, Either<RankPause> auto& pause) {
  visit("rank", pause.rank);
  visit("host", pause.host, RankHost{});
  visit("step", pause.step);
  visit("pass", pause.pass);
  visit("seconds", pause.seconds, kSeconds);
}

/// Of a line that a rank left for others (json_line); none where it is empty or damaged.
[[nodiscard]] std::optional<Incident> incident_from_line(std::string_view line);

}  // namespace collbench
