#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/record/operation.hpp"

// What NCCL Inspector, a profiler plugin of NCCL 2.28 and newer, writes of a job in production: a file for
// each process, a JSON object on each line (ext-profiler/inspector, since 2.29.2 plugins/profiler/inspector).

namespace collbench::analysis {

struct InspectedCommunicator {
  std::string id;    ///< NCCL's hash of it: "0x51c0ffee12ab90"
  std::string name;  ///< the job's name for it, from NCCL 2.30 on; empty: none
  int ranks = 0;
  int nodes = 0;
  std::map<int, std::string> hosts;  ///< of the ranks whose files were read
};

/// One call as one rank saw it.
struct InspectedCall {
  std::uint64_t sequence = 0;  ///< of its communicator and operation, the same on all ranks
  int rank = 0;
  double seconds = 0;  ///< of its kernel, the wait for the last rank included; whole microseconds
};

/// Calls that move the same between the same ranks.
struct InspectedKind {
  std::size_t communicator = 0;  ///< which of the job's
  OperationId operation = OperationId::all_reduce;
  std::uint64_t size_bytes = 0;  ///< as nccl-tests counts: of AllGather and ReduceScatter over all ranks
  std::string algorithm;         ///< "nvls_tree"; empty: not written (before format 4.2)

  auto operator<=>(const InspectedKind&) const = default;
};

struct InspectedJob {
  std::vector<InspectedCommunicator> communicators;
  std::map<InspectedKind, std::vector<InspectedCall>> calls;
  std::map<std::string, std::size_t> left_out;  ///< lines, by the reason
  std::size_t files = 0;
  std::map<std::pair<std::string, int>, std::size_t> known;  ///< communicators by hash and ranks
};

/// Adds the lines of one process's file. A last line that was cut is left out, and so is one that is damaged
/// behind others that are not. A file that begins otherwise, a line of more than a MiB, and a value that
/// cannot be throw Error (usage) with the place in `file`.
void read_inspector_log(std::istream& input, const std::string& file, InspectedJob& job);

}  // namespace collbench::analysis
