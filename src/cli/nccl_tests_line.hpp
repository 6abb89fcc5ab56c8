#pragma once
#include <optional>
#include <string>
#include <vector>

// collbench under the name of a program of nccl-tests (a link all_reduce_perf): its options, defaults and
// table.

namespace collbench::program {

struct NcclTestsLine {
  std::vector<std::string> words;  ///< of a run of ours
  std::vector<std::string> notes;  ///< what of the options is not done here
  bool finds_backend = false;      ///< a run without --backend: by the GPUs that are here
  int ranks_of_process = 1;        ///< that each launched process starts: its GPUs
};

/// What a command line of nccl-tests 2.19.6 asks for; none where `program`, the name that was called, is none
/// of its programs. Options of ours that nccl-tests lacks, such as --expect, are taken as they are.
/// `launched`: by MPI's launcher. `min_busbw`: NCCL_TESTS_MIN_BW; empty: not set.
/// Throws Error (usage) for what nccl-tests refuses, and for what cannot be measured here.
[[nodiscard]] std::optional<NcclTestsLine> nccl_tests_line(const std::string& program,
                                                           const std::vector<std::string>& words,
                                                           bool launched, const std::string& min_busbw);

}  // namespace collbench::program
