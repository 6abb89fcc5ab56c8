#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

// collbench under the name of a program of nccl-tests (a link all_reduce_perf): its options, defaults and
// table.

namespace collbench::program {

using EnvironmentValue = std::function<std::string(const char* name)>;

struct NcclTestsLine {
  std::vector<std::string> words;  ///< of a run of ours
  std::vector<std::string> notes;  ///< what of the options is not done here
  bool sees_no_gpu = false;        ///< without --backend: what is measured is found by the hosts' GPUs
};

/// What a command line of nccl-tests 2.19.6 asks for; none where `program`, the name that was called, is none
/// of its programs. Options of ours that nccl-tests lacks, such as --expect, are taken as they are.
/// `has_gpus`: whether this host has; asked where no --backend says what is measured. Without GPUs, -t and -g
/// ask for as many processes on host memory. `variable`: the value of one of the environment; empty: not set.
/// Throws Error (usage) for what nccl-tests refuses, and for what cannot be measured here.
[[nodiscard]] std::optional<NcclTestsLine> nccl_tests_line(const std::string& program,
                                                           const std::vector<std::string>& words,
                                                           const std::function<bool()>& has_gpus,
                                                           const EnvironmentValue& variable);

}  // namespace collbench::program
