#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/measurement.hpp"
#include "tools/inspector/inspector_log.hpp"
#include "topology/machines/resolve.hpp"

// What a job's own collectives say: how quick each kind is, against what a sound machine gives between as
// many ranks, and who comes last to them.

namespace collbench::analysis {

/// Fewer that every rank logged say nothing of who is slow or late.
inline constexpr std::size_t kMinCalls = 20;

/// From which call on a kind takes longer than it did at first.
struct Slowdown {
  double times = 1;                 ///< by so much, median over median
  double seconds = 0;               ///< a call then, median
  double busbw = 0;                 ///< GB/s, of that
  std::uint64_t sequence = 0;       ///< Inspector's number of the first slow one
  std::int64_t second_of_dump = 0;  ///< when that was written, since 1970; 0: not known
};

struct KindResult {
  InspectedKind kind;
  bool is_of_means = false;  ///< of a Prometheus dump: minutes and their GPUs in place of calls and ranks
  bool has_time = false;     ///< it is known when the first of them was written
  std::size_t calls = 0;
  std::size_t whole = 0;  ///< calls that every rank logged: what follows is of these, where there is one
  /// Median over calls of the quickest rank's. Of GPUs of several communicators as many as one has ranks, the
  /// slowest, could be one: the quickest of these.
  double seconds = 0;
  double busbw = 0;                      ///< GB/s, of that
  std::optional<double> expected_busbw;  ///< GB/s; none without a machine, or where none is expected
  std::optional<HealthyRange> range;     ///< of busbw over expected; from 64 MiB and 20 whole calls on
  std::optional<double> wait_seconds;    ///< median of the slowest rank's time less the quickest's
  std::optional<Slowdown> slowdown;

  [[nodiscard]] std::optional<double> ratio() const {
    return expected_busbw ? std::optional(busbw / *expected_busbw) : std::nullopt;
  }
  /// Of what became slower as it is since then: what is judged.
  [[nodiscard]] std::optional<double> last_ratio() const {
    return expected_busbw && slowdown ? std::optional(slowdown->busbw / *expected_busbw) : ratio();
  }
  /// UNCLEAR: means hold what the ranks waited, so that they are under the edge for that, or for a fault.
  [[nodiscard]] VerdictWord verdict() const {
    if (!range || !last_ratio() || *last_ratio() >= range->below) return VerdictWord::none;
    return is_of_means ? VerdictWord::unclear : VerdictWord::below;
  }
};

/// Of the calls of a communicator in which all others wait for one rank, one comes last to far more than its
/// share. Only of operations in which each rank depends on all (AllReduce, AllGather, ReduceScatter): of
/// others a rank may be ready before the rest.
struct LateRank {
  std::size_t communicator = 0;
  int rank = 0;
  std::string host;
  std::size_t calls = 0;    ///< that ranks waited in
  std::size_t last_in = 0;  ///< in so many of them it came last
  double wait_seconds = 0;  ///< median over these of the shortest wait of the others
};

struct JobResult {
  std::vector<KindResult> kinds;   ///< by communicator, operation and size
  std::vector<LateRank> late;      ///< the longest waits first
  std::vector<std::string> notes;  ///< what has no expectation, and why
};

/// `machine`: what the job ran on; null: nothing is expected.
[[nodiscard]] JobResult judge_job(const InspectedJob& job, const topology::ResolvedMachine* machine);

/// What was read and judged, by a machine of this name; empty: by none.
struct InspectorPage {
  InspectedJob job;
  JobResult result;
  std::string machine;
};

/// "BELOW: AllReduce 1 GiB of dp0 …; rank 3 on n17 of tp0 comes last …": the first line of the text.
[[nodiscard]] std::string inspector_headline(const InspectorPage& page);

/// As "text" (lines of `columns`, from 80 on, at most), "csv", "json", "md" or "html".
[[nodiscard]] std::string report(const InspectorPage& page, std::string_view format, int columns);

}  // namespace collbench::analysis
