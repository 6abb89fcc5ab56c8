#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
  double times = 1;            ///< by so much, median over median
  std::uint64_t sequence = 0;  ///< Inspector's number of the first slow one
};

struct KindResult {
  InspectedKind kind;
  std::size_t calls = 0;
  std::size_t whole = 0;  ///< calls that every rank logged: what follows is of these, where there is one
  double seconds = 0;     ///< median over calls of the quickest rank's
  double busbw = 0;       ///< GB/s, of that
  std::optional<double> expected_busbw;  ///< GB/s; none without a machine, or where none is expected
  std::optional<HealthyRange> range;     ///< of busbw over expected; from 64 MiB and 20 whole calls on
  std::optional<double> wait_seconds;    ///< median of the slowest rank's time less the quickest's
  std::optional<Slowdown> slowdown;

  [[nodiscard]] std::optional<double> ratio() const {
    return expected_busbw ? std::optional(busbw / *expected_busbw) : std::nullopt;
  }
  [[nodiscard]] bool is_below() const { return range && ratio() && *ratio() < range->below; }
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

}  // namespace collbench::analysis
