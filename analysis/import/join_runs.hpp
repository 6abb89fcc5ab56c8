#pragma once
#include <string>
#include <vector>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// A run, and the file that it was read from.
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

}  // namespace collbench::analysis
