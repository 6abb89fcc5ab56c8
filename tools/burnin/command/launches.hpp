#pragma once
#include <future>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/attribution/group_phases.hpp"
#include "tools/burnin/attribution/pair_outcome.hpp"
#include "tools/burnin/command/options.hpp"
#include "topology/telemetry/error_counters.hpp"

// The commands of a burn-in's launches, and what became of each. A launch throws MisplacedRanks, and nothing
// else for what fails in it.

namespace collbench::program {

/// A launcher that starts ranks on other hosts than it was asked to: what it measures is nobody's.
class MisplacedRanks : public Error {
 public:
  /// `words` of the launcher are those of `option`; `how` as analysis::misplacement().
  MisplacedRanks(const char* option, const char* words, const std::vector<std::string>& hosts,
                 const std::string& how);
};

/// The words of the group launcher on these hosts, before the program; collbench, which lies beside this
/// program and is what is launched; and why a launch gave nothing: "exit status 1: its words".
[[nodiscard]] std::vector<std::string> group_words(const BurninOptions& options,
                                                   const std::vector<int>& nodes, int ranks_per_host);
[[nodiscard]] std::string core_program_path();
[[nodiscard]] std::string why_failed(const ChildResult& result, const ChildLimits& limits);

/// Open MPI's launcher among the words of a command (behind ssh or env, say), if that is the library here.
[[nodiscard]] std::vector<std::string>::const_iterator open_mpi_launcher(
    const std::vector<std::string>& words);

/// `rail`: none of its own below 0.
[[nodiscard]] std::vector<std::string> pair_command(const BurninOptions& options, int a, int b, int rail);
/// AllReduce also with each of `algorithms`.
[[nodiscard]] std::vector<std::string> group_command(const BurninOptions& options,
                                                     const analysis::GroupLaunch& launch,
                                                     const std::vector<std::string>& algorithms);

/// What is forced in a launch of groups, or of all hosts, so that a path shows that the library's own choice
/// passes by: --group-algos, or ring and tree where each of its hosts has been in a launch on GPUs. Nothing
/// in other phases.
[[nodiscard]] std::vector<std::string> forced_algorithms(const BurninOptions& options,
                                                         const analysis::BurninRecord& record,
                                                         const analysis::GroupLaunch& launch);

/// How long a launch measures with so many more algorithms.
[[nodiscard]] double group_seconds(const BurninOptions& options, std::size_t algorithms);

/// Starts `launch` of each job, all at the same time; `jobs` outlive it.
template <typename Job, typename Launch>
[[nodiscard]] auto launch_all(const std::vector<Job>& jobs, const Launch& launch) {
  std::vector<std::future<std::invoke_result_t<Launch, const Job&>>> outcomes;
  for (const Job& job : jobs)
    outcomes.push_back(std::async(std::launch::async, [launch, &job] { return launch(job); }));
  return outcomes;
}

/// A broadcast each way. As launch_group() it throws MisplacedRanks.
[[nodiscard]] analysis::PairOutcome launch_pair(const BurninOptions& options, int a, int b, int rail);

/// AllReduce and AllToAll of a group.
[[nodiscard]] analysis::GroupOutcome launch_group(const BurninOptions& options,
                                                  const analysis::GroupLaunch& launch,
                                                  const std::vector<std::string>& algorithms);

/// The error counters of all hosts, each by a launch of its own: one that is gone takes no other with it.
struct CounterLook {
  std::vector<topology::ErrorCounters> hosts;
  std::map<std::string, std::string> without;  ///< hosts that gave none, and why
};
[[nodiscard]] CounterLook look_at_counters(const BurninOptions& options);

}  // namespace collbench::program
