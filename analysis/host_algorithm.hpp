#pragma once
#include <span>
#include <string_view>

#include "analysis/host_model.hpp"
#include "base/record/operation.hpp"
#include "base/record/traffic_matrix.hpp"

namespace collbench {

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

// One file each, named after the operation.
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

}  // namespace collbench
