#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/hang/communicators.hpp"
#include "topology/doctor/watchdog_lines.hpp"

namespace collbench::analysis {

/// The dumps that PyTorch's flight recorder wrote as JSON, one of each rank; the file's name ends with the
/// rank's number, as PyTorch names it. They are large: each is given by itself, and only what its rank was
/// doing is kept of it. Beside them, or alone, logs with the lines of PyTorch's watchdog, of one or many
/// ranks; of a rank that has both the dump counts, and of several incidents in a log the last.
class PytorchDumps {
 public:
  /// False: it is neither such a dump nor such a log. Throws Error (usage) that names the file.
  [[nodiscard]] bool add(const HangDump& dump);

  [[nodiscard]] bool empty() const { return first_file_.empty(); }

  /// Their process groups. Throws Error (usage) where there are none.
  [[nodiscard]] std::vector<Communicator> groups();

 private:
  struct RankOfLog {
    CommunicatorMember member;
    std::uint64_t ended = 0;  ///< its last call that has ended
  };

  bool add_log(const HangDump& log);
  void add_incident(const topology::WatchdogIncident& incident, std::size_t incidents);

  std::map<std::string, Communicator> by_name_;
  std::map<std::string, std::set<int>> expected_;    // ranks of each group
  std::map<std::string, std::set<int>> by_numbers_;  // those that a log lacks, by the others' numbers in it
  std::set<int> dumped_;
  std::vector<topology::EvidenceLine> log_lines_;           // of all logs
  std::map<std::string, std::map<int, RankOfLog>> by_log_;  // of each group
  std::string first_file_;
};

}  // namespace collbench::analysis
