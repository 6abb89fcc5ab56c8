#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/log_readers.hpp"
#include "analysis/import/log_table.hpp"
#include "base/record/operation.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// What the user says of a log, where the log does not.
struct ImportOptions {
  JobGiven job;
  std::optional<OperationId> operation;
  std::optional<int> run;            ///< which of several runs in the log, from 1
  std::string started;               ///< as utc_time makes it; empty: not given
  std::vector<std::string> hosts{};  ///< one for each node; empty: not given

  bool operator==(const ImportOptions&) const = default;
};

/// The runs that the output of another benchmark tells of, which is read part by part and of which only the
/// tables are kept: nccl-tests' text in all its generations, its JSON (-J), or rccl-tests' (-x). In place and
/// out of place are rows of their own, as in a run of ours; there is no interval, for a log has one time per
/// row. Tables of one operation on the same devices are one run, however many invocations they came from,
/// unless their command lines differ in more than amounts. Nothing is made up: what the log does not say is
/// none in `Run::log`, and what was left out is counted there; it also says which run it is. Throws Error
/// (usage) that names the place and the next step when there is no table, when it cannot be known what ran on
/// how many ranks, or when there are several runs to choose from and not `several`.
[[nodiscard]] std::vector<Run> import_runs(const TextParts& parts, std::string_view file,
                                           const ImportOptions& options, bool several);

/// The runs of whatever the file is: a record or stream of ours, or a log as above, with the time and the
/// hosts that the user gives. Throws Error (usage) also where something is said of a record, which says it
/// itself.
[[nodiscard]] std::vector<Run> runs_of_file(const TextParts& parts, std::string_view file,
                                            ImportOptions options, bool several);

struct RunOfFile {
  std::string file;
  Run run;
};

/// Several runs of one machine as one: rows that one of them has stand there as they are; a row that several
/// have is of so many launches, with the median of their times. What is said of the job is what the first
/// says; where the logs of others contradict it, a note says so. Records of the same rows are merged as
/// repeat merges its launches. Precondition: at least one. Throws Error (usage) for runs of different
/// machines, numbers of ranks or nodes, backends, or reductions over ranks: their times are not of one run.
[[nodiscard]] RunOfFile join_runs(std::vector<RunOfFile> runs);

/// A time in UTC as people write it ("2026-11-20", "2026-11-20 02:00", "2026-11-20T02:00:00Z"), as records
/// have it ("2026-11-20T02:00:00Z"); none for anything else, such as the 30th of February.
[[nodiscard]] std::optional<std::string> utc_time(std::string_view text);

/// What the user says of when and where an imported run was, where its log does not: `started` as utc_time
/// makes it, `hosts` one for each node in the order of the ranks; empty: nothing is said. Throws Error
/// (usage) where the log says otherwise, and for another number of hosts than nodes. "localhost" is no name,
/// and what is given in its place is noted.
void set_time_and_hosts(Run& run, const std::string& started, const std::vector<std::string>& hosts);

}  // namespace collbench::analysis
