#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "topology/doctor/evidence.hpp"

namespace collbench::topology {

/// How far a rank had come in a process group when a collective timed out, as PyTorch's watchdog wrote it.
struct WatchdogRank {
  std::int64_t call = 0;       ///< the number of the one that timed out or failed; 0: none of this rank did
  std::string operation;       ///< "ALLREDUCE"
  std::string elements;        ///< of its input; empty before 2.1
  std::int64_t enqueued = -1;  ///< the last one that it had given to NCCL; -1: not told
  std::int64_t completed = 0;  ///< the last one that had ended
  int number = -1;             ///< of the rank in its group; -1: not told
};

struct WatchdogGroup {
  std::string description;  ///< "default_pg"; empty: it has none
  std::map<int, WatchdogRank> ranks;
  std::string location;  ///< of its first timeout; empty: none of its ranks had one
};

/// One hang of a job.
struct WatchdogIncident {
  std::map<std::string, WatchdogGroup> groups;  ///< by name, which is the same on all ranks since 2.5
  /// Of a rank that failed by itself, and did not only wait for others: what it wrote.
  std::map<int, EvidenceLine> errors;

  /// Those of the ranks that a group is known or likely to have.
  [[nodiscard]] std::map<int, EvidenceLine> errors_in(const std::string& group) const;
};

/// The lines that watchdog_incidents() reads.
[[nodiscard]] std::vector<EvidenceLine> lines_of_watchdog(const std::vector<EvidenceLine>& lines);

/// In order of time: a job that was started again may have hung again.
[[nodiscard]] std::vector<WatchdogIncident> watchdog_incidents(const std::vector<EvidenceLine>& evidence);

/// Ranks of a group that wrote nothing of it, as far as they follow from those that did: of the default
/// group, which has all, those below the highest; of another one by the ranks' numbers in it, where these go
/// up in equal steps.
[[nodiscard]] std::set<int> missing_ranks(const std::string& name, const WatchdogGroup& group);

/// Whether the call of that name (OpType) is between two ranks, or may be.
[[nodiscard]] bool is_point_to_point(std::string_view operation);

/// Whether the sizes of one call's inputs may differ between ranks, by the name that a dump ("all_to_all") or
/// a log ("ALLTOALL_BASE") gives to it. Source: PyTorch, tools/flight_recorder/components/types.py, Op.match.
[[nodiscard]] bool may_differ_in_sizes(std::string_view operation);

/// "_ALLGATHER_BASE" of a log and "_all_gather_base" of a dump alike.
[[nodiscard]] std::string folded_operation(std::string_view operation);

}  // namespace collbench::topology
