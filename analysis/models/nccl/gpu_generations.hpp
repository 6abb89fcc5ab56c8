#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "topology/catalog/gpus.hpp"

namespace collbench::analysis {

using topology::GpuGeneration;

using PerNodes = std::array<double, 3>;  // 1 node, 2 nodes, more; GB/s
[[nodiscard]] inline double at_nodes(const PerNodes& rates, int nodes) {
  return rates.at(static_cast<std::size_t>(std::min(nodes, 3) - 1));
}

/// What the models know of a GPU generation, beside what asks whether it is at least another one.
struct NcclGeneration {
  GpuGeneration from;  ///< and all later ones up to the next row's
  /// GB/s of one channel that the search for channels tries, from high to low.
  std::span<const double> node_speeds;
  std::span<const double> network_speeds;
  PerNodes max_ll;  ///< of all channels together; the others of each
  PerNodes max_ring_ll128;
  PerNodes max_tree_ll128;
  PerNodes max_tree;
  PerNodes max_nvls_tree;
  double nvls_efficiency;  ///< of what the NVLinks carry; 0: no NVLink SHARP
  double to_one_peer;      ///< of a board's NVLinks, when each GPU sends to one other only
  double copy_rate;        ///< GB/s that one channel (a CTA) of sends copies by Simple; 0: not known
  double low_latency_copy_rate;
  bool copies_bound_sends;  ///< as machines showed
};

[[nodiscard]] const NcclGeneration& nccl_generation(GpuGeneration generation);

}  // namespace collbench::analysis
