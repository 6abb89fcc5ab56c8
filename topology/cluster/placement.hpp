#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/cluster.hpp"
#include "base/record/identities.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The GPUs that a value of CUDA_VISIBLE_DEVICES shows a process, in its order: indices, UUIDs ("GPU-…", also
/// their start), MIG devices ("MIG-…"). As CUDA does, what follows an invalid entry (-1, a word) is cut off,
/// and an empty value shows none. None when the variable is not set: then all are visible.
/// Source: CUDA C++ programming guide, CUDA environment variables.
[[nodiscard]] std::optional<std::vector<std::string>> visible_gpus(const char* cuda_visible_devices);

/// Whether an entry is an index, which says little: CUDA counts the fastest first unless CUDA_DEVICE_ORDER
/// says otherwise, and under task/cgroup every task's only GPU is 0.
[[nodiscard]] bool is_gpu_index(std::string_view entry);

/// A rank and the GPUs that it can use.
struct RankHostView {
  Identity identity;
  /// UUIDs ("GPU-…", "MIG-…"), PCI addresses, or indices as a last resort, in the rank's own order. None: no
  /// word of it, so all of the host; empty: no GPU.
  std::optional<std::vector<std::string>> gpus;
};

/// What a rank works with: positions in the lists of its host.
struct RankPlacement {
  int rank = 0;
  std::optional<int> gpu;
  std::optional<int> nic;  ///< the nearest; equally near ones are dealt out to the GPUs in turn
  std::optional<int> numa_node;
  bool guess = false;  ///< the GPU is known by an index alone
  std::string note;    ///< what is wrong or not known

  bool operator==(const RankPlacement&) const = default;
};

/// Where every rank works. A rank that sees one GPU uses it; ranks that see the same several take them in
/// turn, by local rank, as NCCL programs do. `hosts` are the machines by Identity::node. Throws
/// std::out_of_range for a node without a machine.
[[nodiscard]] std::vector<RankPlacement> placement(const std::vector<Host>& hosts,
                                                   const std::vector<RankHostView>& ranks);

/// As the run's record keeps it: by name and address. `host` is that of the rank.
[[nodiscard]] PlacedRank placement_record(const RankPlacement& placement, const Host& host);

}  // namespace collbench::topology
