#pragma once
#include <optional>
#include <string_view>

namespace collbench {

/// How two devices are connected, nearest first. By name, never by number: NCCL's own numbers moved between
/// 2.26, 2.27 and 2.28.
enum class PathType {
  loc,   ///< the same device
  nvl,   ///< NVLink, directly or through an NVSwitch
  nvb,   ///< NVLink through another GPU (NCCL only)
  c2c,   ///< chip to chip, GPU and CPU of one module
  pix,   ///< one PCIe bridge
  pxb,   ///< several PCIe bridges, no host bridge
  p2c,   ///< GPU to NIC through C2C, the CPU and PCIe (NCCL only)
  pxn,   ///< GPU to NIC through another GPU that sits next to the NIC (NCCL only)
  phb,   ///< a PCIe host bridge, that is the CPU
  node,  ///< several host bridges of one NUMA node (nvidia-smi only; NCCL calls it PHB)
  sys,   ///< between NUMA nodes
  net,   ///< the network
};

/// "NVL", "PIX", …
[[nodiscard]] std::string_view path_type_name(PathType type);

/// The inverse of path_type_name.
[[nodiscard]] std::optional<PathType> path_type_from_name(std::string_view name);

/// nvidia-smi's word in a `topo -m` cell: "X", "NV12", "PIX", "SOC" (SYS until driver 375), …; none for
/// anything else. `nvlinks` receives the number behind NV.
[[nodiscard]] std::optional<PathType> path_type_from_nvidia_smi(std::string_view cell, int* nvlinks);

/// nvidia-smi's word for `type`, without the number of NVLinks: "NV", "X"; it has none for some of NCCL's.
[[nodiscard]] std::optional<std::string_view> nvidia_smi_word(PathType type);

/// NCCL's word in its logs and graph files; NODE becomes PHB. Source: nccl 2.30 src/graph/topo.cc,
/// topoPathTypeStr.
[[nodiscard]] std::string_view nccl_word(PathType type);

}  // namespace collbench
