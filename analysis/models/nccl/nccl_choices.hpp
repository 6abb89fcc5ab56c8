#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// What NCCL itself chooses on a machine like this one.
struct NcclTableChoice {
  std::string algorithm;  ///< as --algo has it
  std::string protocol;   ///< as --proto has it
  int min_channels = 0;   ///< over the sizes around this one with the same choice; 0: NCCL does not say
  int max_channels = 0;
  std::string machine;     ///< the reference machine that was asked about
  int nodes = 1;           ///< of it
  int oldest_version = 0;  ///< NCCL_VERSION_CODE of the versions that choose so, of those that were asked:
  int newest_version = 0;  ///< the one next below the run's; all of them where the run's is not known

  bool operator==(const NcclTableChoice&) const = default;
};

/// By the table of nccl_choice_table.hpp: a machine with the same GPU generation, NVLinks, GPUs and nodes,
/// and between nodes the same number of NICs, of the same rate within a tenth, that NCCL drives by itself
/// (verbs). None where no machine is that near, for versions before the table's first, where a setting
/// decides (NCCL_ALGO and its like), where NICs are unequal, and where the version is not known and the
/// versions differ.
[[nodiscard]] std::optional<NcclTableChoice> nccl_table_choice(OperationId id, std::uint64_t size_bytes,
                                                               const GpuCluster& cluster);

/// The cluster with that choice in its facts, where the run does not tell what ran.
[[nodiscard]] GpuCluster with_table_choice(GpuCluster cluster, OperationId id, std::uint64_t size_bytes);

/// "NCCL 2.28.9", "NCCL 2.21.5 to 2.32.3".
[[nodiscard]] std::string nccl_versions(const NcclTableChoice& choice);

/// "NCCL 2.28.9 chooses tree/ll128 here (table: as on hgx-h100 × 2)".
[[nodiscard]] std::string words(const NcclTableChoice& choice);

/// The part of the links' rate that a protocol's data have: LL sends a flag with each 4 bytes, LL128 gets 92
/// %. NCCL's own figures (NCCL 2.30 src/graph/tuning.cc: 0.5 and 0.92 of the ring's bandwidth); 1 for Simple
/// and for what is not known.
[[nodiscard]] double protocol_efficiency(std::string_view protocol);

/// 22809 of "2.28.9+cuda12.9"; 0 for what is no version from 2.9 on.
[[nodiscard]] int nccl_version_code(const std::string& version);

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
