#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/hang/hang.hpp"

namespace collbench::analysis {

/// Whether a rank of a communicator can be asked.
enum class MemberPresence {
  seen,
  silent,   ///< it did not answer
  outside,  ///< it answers, and does not have this communicator
  dead,     ///< NCCL considers it dead
  no_dump,  ///< its dump is not among those that are there
};

/// Stands for the operation where a tool counts all collective calls together.
inline constexpr std::string_view kAnyCalls = "collective calls";

/// One rank in one communicator, as somebody else's tool has it.
struct CommunicatorMember {
  int rank = 0;
  std::string host;  ///< or its address; empty: not known
  int pid = 0;       ///< 0: not known
  MemberPresence presence = MemberPresence::seen;
  std::map<std::string, std::uint64_t> begun;  ///< collective calls, by operation
  std::uint64_t call = 0;                      ///< the number of its first call that has not ended; 0: none
  std::string operation;                       ///< of that call; empty: not known
  std::string sizes;                           ///< of that call's inputs, with types; empty: not known
  std::string progress;                        ///< of that call: "scheduled", "started"; empty: not known
  std::string error;                           ///< that it reports; empty: none

  [[nodiscard]] std::uint64_t calls() const;  ///< begun, of all operations
};

struct Communicator {
  std::string name;  ///< "group default_pg", "communicator 0xfb29"
  int size = 0;
  std::vector<CommunicatorMember> members{};  ///< by rank; not all, where a tool lists some only
  /// The most calls that a rank has begun that is not listed, by operation; empty: all are listed.
  std::map<std::string, std::uint64_t> begun_by_others{};
  bool lists_all = true;  ///< the numbers of its ranks are known, also where a rank left nothing
  /// What the tool itself says is wrong, in its words ("MISMATCH"); empty: nothing.
  std::string verdict{};
  std::string status;  ///< of its ranks, in the tool's words ("RUNNING"); empty: not known
};

/// Whom the others of a communicator wait for, as far as its members tell.
[[nodiscard]] HangFinding find_hang(const Communicator& communicator);

/// For each communicator its ranks, those alike on one line, and what keeps it from going on.
[[nodiscard]] std::string communicators_text(const std::vector<Communicator>& communicators, int columns);

/// {"communicators": [{"name": …, "size": …, "ranks": […], "cause": …, "blamed_ranks": …, "finding": …}]}
[[nodiscard]] std::string communicators_json(const std::vector<Communicator>& communicators);

/// A file that a tool has written about a job that hangs.
struct HangDump {
  std::string file;
  std::string text;
};

}  // namespace collbench::analysis
