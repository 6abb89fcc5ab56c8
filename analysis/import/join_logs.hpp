#pragma once
#include <vector>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// Several logs of one job, or of several jobs on one kind of machine, as one run: rows that one log has
/// stand there as they are; a row that several have is of so many launches, with the median of their times.
/// What is said of the job is what the first says; where others contradict it, a note says so. Precondition:
/// at least one; each imported. Throws Error (usage) for logs of different numbers of ranks, backends, or
/// reductions over ranks: their times are not of one run.
[[nodiscard]] Run join_logs(std::vector<Run> logs);

}  // namespace collbench::analysis
