#pragma once
#include <span>
#include <string_view>

namespace collbench::analysis {

/// What NCCL chooses on a machine from some version on, until a later entry of the same machine, nodes and
/// operation says otherwise.
struct NcclChoiceEntry {
  std::string_view machine;  ///< a reference machine
  int nodes = 1;
  int from_version = 0;         ///< as NCCL_VERSION_CODE: 22809 is 2.28.9
  std::string_view operations;  ///< option names, with blanks between
  /// "tree/ll 128K 1-16, nvls_tree/simple 16G 16": algorithm and protocol, up to which size, channels (none
  /// where NCCL does not say). Empty: this NCCL ends in an error on the machine.
  std::string_view ranges;
};

/// Made by scripts/nccl-choices: NCCL's own host code on simulated GPUs. No GPU ran.
[[nodiscard]] std::span<const NcclChoiceEntry> nccl_choice_entries();

/// The versions that were asked, from old to new.
[[nodiscard]] std::span<const int> nccl_choice_versions();

}  // namespace collbench::analysis
