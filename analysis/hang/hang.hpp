#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/incident.hpp"
#include "base/record/rank_activity.hpp"

namespace collbench::analysis {

/// What keeps a run from going on, by what its ranks were doing.
enum class HangCause {
  rank_gone,      ///< its process ended
  rank_stopped,   ///< its process is stopped: SIGSTOP, a debugger
  rank_missing,   ///< it never started
  rank_busy,      ///< it does something else while the others wait for it
  rank_behind,    ///< it made fewer calls than the others
  rank_ahead,     ///< ranks left a call in which others still are: no rank's fault by itself
  link_drops,     ///< what ranks sent to another host is not acknowledged by its kernel
  rank_failed,    ///< it reports an error
  calls_differ,   ///< ranks are in the same call with different operations or sizes
  host_silent,    ///< nothing is heard of its host
  not_seen_here,  ///< all that can be seen wait in the same call
  not_known,
  goes_on,          ///< a rank made progress a moment ago
  reported_by_run,  ///< the run ended, and said why
};

inline constexpr std::array<std::string_view, 14> kHangCauseNames{
    "rank gone",     "rank stopped", "rank missing", "rank busy",          "rank behind",
    "rank ahead",    "link drops",   "rank failed",  "calls differ",       "host silent",
    "not seen here", "not known",    "goes on",      "reported by the run"};

[[nodiscard]] constexpr std::string_view name(HangCause cause) {
  return kHangCauseNames.at(static_cast<std::size_t>(cause));
}

struct HangFinding {
  HangCause cause = HangCause::not_known;
  std::vector<int> ranks;  ///< who is to blame; empty where that is not known
  std::string text;        ///< a sentence without its period, which ranks wait included
};

/// Which rank the others wait for, as far as the ranks that can be seen tell: those of one host, by rank.
/// `local_ranks` is how many the launcher started there; 0: it did not say. `here`: the host to which those
/// of other hosts were reported; "": all are known by their recorders alone.
[[nodiscard]] HangFinding find_hang(const std::vector<RankActivity>& ranks, int local_ranks,
                                    const std::string& here = "");

/// The same for somebody who looks from outside, at any time: `reported` is what the run itself said when it
/// ended. Where no rank is gone or stopped, and one made progress in the last two seconds, the run goes on.
[[nodiscard]] HangFinding look_at(const std::vector<RankActivity>& ranks,
                                  const std::optional<Incident>& reported);

/// The ranks of a host that has not reported.
struct SilentRanks {
  std::string host;
  std::vector<int> ranks;
};

/// Likewise of a run on several hosts, of which `silent` do not report to the host `here`. So many strangers
/// were closed there to make room for the next: those hosts may not have come through.
[[nodiscard]] HangFinding find_hang_with_silence(const std::vector<RankActivity>& ranks,
                                                 const std::string& here,
                                                 const std::vector<SilentRanks>& silent,
                                                 int closed_strangers);

/// "rank 2 (node1)"; "ranks 0-2, 5 (node1)" of ranks of one host, else each with its own.
[[nodiscard]] std::string rank_names(const std::vector<RankActivity>& ranks);

/// A line for each rank and what keeps the run from going on.
[[nodiscard]] std::string flight_text(const std::vector<RankActivity>& ranks, const HangFinding& finding,
                                      int columns);

/// {"ranks": …, "cause": …, "blamed_ranks": …, "finding": …}
[[nodiscard]] std::string flight_json(const std::vector<RankActivity>& ranks, const HangFinding& finding);

}  // namespace collbench::analysis
