#pragma once
#include <optional>
#include <vector>

#include "analysis/models/nccl/gpu_generations.hpp"
#include "analysis/models/nccl/nic_channels.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// The NICs of a node that NCCL's search reaches. Rates are GB/s (1e9 bytes) in one direction.
struct NodeNics {
  int used = 0;
  bool one_gpu_each = false;  ///< no two GPUs share a NIC's PCIe switch
  int per_gpu = 1;            ///< fast NICs that a GPU's own sends and receives use
  NicLink fastest{};
  std::vector<NicLink> slower;  ///< those of `used` that are slower than the fastest
};

/// The NICs for collectives, by position: those of at least 100 Gb/s, or else the fastest.
[[nodiscard]] std::vector<int> fast_enough_nics(const topology::Host& host);

/// `generation`: of the GPUs, by which NCCL chooses the speeds that it tries.
[[nodiscard]] NodeNics node_nics(const topology::Host& host, GpuGeneration generation);

/// The NICs of `healthy` as `now`, the same node, has them: the slowest link of one and of the GPUs next to
/// it. None where there is no NIC.
[[nodiscard]] std::optional<NicLink> slowest_nic(const topology::Host& healthy, const topology::Host& now);

/// Whether the NIC shares a PCIe link with others that carries less than all of them: that of a card with
/// several ports, of a bridge above it, or of the GPUs next to them. NCCL then uses only some of them, and
/// two ports at half the rate measured 1.9 times as much (NVIDIA/nccl#1303: 2 × 200 Gb/s behind Gen4 x16). No
/// model here has that.
[[nodiscard]] bool shares_a_full_link(const topology::Host& host, int nic);

/// PCIe of a GPU that has a rank: the slowest, which the others wait for. With a rank on every GPU it is the
/// fastest: NICs behind a slower one are not reached, and were dropped.
[[nodiscard]] double gpu_path(const topology::Host& host, int ranks);

}  // namespace collbench::analysis
