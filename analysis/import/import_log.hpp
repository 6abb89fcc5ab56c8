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

/// The run that the output of another benchmark tells of: nccl-tests' text in all its generations, its JSON
/// (-J), or rccl-tests' (-x). In place and out of place are rows of their own, as in a run of ours; there is
/// no interval, for a log has one time per row. Tables of one operation on the same devices are one run,
/// however many invocations they came from, unless their command lines differ in more than amounts. Nothing
/// is made up: what the log does not say is none in `Run::log`, and what was left out is counted there.
/// Throws Error (usage) that names the place and the next step when there is no table, when it cannot be
/// known what ran on how many ranks, or when there are several runs to choose from.
[[nodiscard]] Run import_log(std::string_view text, std::string_view file, const ImportOptions& options);

/// The same of a text that is read part by part, of which only the tables are kept.
[[nodiscard]] Run import_log(const TextParts& parts, std::string_view file, const ImportOptions& options);

/// Likewise all of its runs; several at most where `several` may be. `Run::log` says which each is.
[[nodiscard]] std::vector<Run> import_runs(const TextParts& parts, std::string_view file,
                                           const ImportOptions& options, bool several);

/// The runs of whatever the file is: a record or stream of ours, or a log as above, with the time and the
/// hosts that the user gives. Throws Error (usage) also where something is said of a record, which says it
/// itself.
[[nodiscard]] std::vector<Run> runs_of_file(const TextParts& parts, std::string_view file,
                                            ImportOptions options, bool several);

}  // namespace collbench::analysis
