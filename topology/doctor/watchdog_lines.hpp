#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "topology/doctor/evidence.hpp"

namespace collbench::topology {

/// How far a rank had come in a process group when a collective timed out, as PyTorch's watchdog wrote it.
struct WatchdogRank {
  std::int64_t call = 0;       ///< the number of the one that timed out; 0: none of this rank did
  std::string operation;       ///< "ALLREDUCE"
  std::string elements;        ///< of its input; empty before 2.1
  std::int64_t enqueued = -1;  ///< the last one that it had given to NCCL; -1: not told
  std::int64_t completed = 0;  ///< the last one that had ended
};

struct WatchdogGroup {
  std::string description;  ///< "default_pg"; empty: it has none
  std::map<int, WatchdogRank> ranks;
  std::string location;  ///< of its first timeout; empty: none of its ranks had one
};

/// By the group's name, which is the same on all of its ranks since 2.5.
[[nodiscard]] std::map<std::string, WatchdogGroup> watchdog_groups(const std::vector<EvidenceLine>& lines);

}  // namespace collbench::topology
