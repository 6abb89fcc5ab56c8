#pragma once
#include <algorithm>
#include <span>
#include <string_view>

#include "analysis/models/host/host_model.hpp"
#include "analysis/models/host/loggp_simulator.hpp"
#include "base/record/operation.hpp"
#include "base/record/traffic_matrix.hpp"

namespace collbench::analysis {

/// One call of a collective on host memory. At least two ranks.
struct HostCall {
  const HostModel& model;
  double size_bytes = 0;  ///< S of the size column
  bool in_place = false;
  int root = 0;                            ///< of operations that have one
  const TrafficMatrix* traffic = nullptr;  ///< of AllToAllv

  [[nodiscard]] int ranks() const { return model.ranks(); }
  /// S/p: one rank's block.
  [[nodiscard]] double block() const { return size_bytes / ranks(); }
};

/// A collective algorithm and its time in seconds by the model.
struct HostAlgorithm {
  std::string_view name;       ///< Open MPI 4.1's own (ompi_info --param coll tuned --level 9)
  bool (*runs_on)(int ranks);  ///< the library may choose it for this number of ranks
  double (*seconds)(const HostCall& call);
};

/// What is known for `operation`, as docs/model.md lists it; empty for operations that are not run here.
[[nodiscard]] std::span<const HostAlgorithm> host_algorithms(OperationId operation);

/// For HostAlgorithm::runs_on.
[[nodiscard]] bool any_ranks(int ranks);
[[nodiscard]] bool two_ranks(int ranks);
[[nodiscard]] bool even_ranks(int ranks);
[[nodiscard]] bool power_of_two_ranks(int ranks);
[[nodiscard]] bool never_by_choice(int ranks);  ///< it runs where the call leaves none

// In files named after the operation, or the two that are each other's reverse.
[[nodiscard]] std::span<const HostAlgorithm> host_all_reduce_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_all_gather_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_reduce_scatter_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_all_to_all_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_send_recv_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_ping_pong_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_broadcast_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_reduce_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_gather_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_scatter_algorithms();
[[nodiscard]] std::span<const HostAlgorithm> host_all_to_all_v_algorithms();

/// AllReduce by trees as NCCL builds them, in seconds, for comparison: no MPI runs it. The ranks of a node
/// are a chain; the nodes form two complementary binary trees, each for half of the data; reduction and
/// broadcast are pipelined. So
///   latency    2((g−1)·α_intra + ⌊log2 N⌋·α_inter),
///   bandwidth  of the fullest link, in one direction: out of a rank S for g = 2 and 2S for g ≥ 3 (a rank in
///              mid-chain sends partial results up and final ones down); out of a node S for N = 2, and 2S
///              for N ≥ 3 (a node with two children in one tree is a leaf of the other),
///   reducing   S for g ≥ 2, and S/2 for N = 2 or S for N ≥ 3 more (children of the node in either tree),
/// and one copy of S out of place. g is the largest number of ranks on a node.
/// Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction
/// and scan", Parallel Computing 35(12), 2009; the link loads are derived in docs/model.md.
[[nodiscard]] double host_tree_all_reduce(const HostCall& call);

/// Seconds of S in segments along the chain of hops in `chain`, among many that follow each other without a
/// pause: then a chain takes what its slowest hop takes, and filling it costs nothing. The quickest segment
/// of 4 KiB × 4^k, or all of S; every rank does `work_seconds(segment)` for each segment that it gets.
/// J. Pješivac-Grbović et al., "Performance Analysis of MPI Collective Operations", Cluster Computing 10,
/// 2007, has the pipeline of a single operation.
template <typename Work>
[[nodiscard]] double pipeline_seconds(const HostCall& call, const Round& chain, const LogGpSimulator& start,
                                      const Work& work_seconds) {
  const auto with_segment = [&](double segment) {
    LogGpSimulator clock = start;
    const auto repeat = [&] {
      clock.repeat(chain, segment, work_seconds(segment), 2 * call.ranks());
      return clock.seconds();
    };
    const double filled = repeat();
    return (repeat() - filled) / (2 * call.ranks()) * (call.size_bytes / segment);
  };
  double quickest = with_segment(call.size_bytes);
  for (double segment = 4096; segment < call.size_bytes; segment *= 4) {
    quickest = std::min(quickest, with_segment(segment));
  }
  return quickest;
}

}  // namespace collbench::analysis
