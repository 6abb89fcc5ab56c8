#pragma once
#include <optional>
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

enum class HopKind { nvlink, c2c, pcie, sockets };

struct PathHop {
  HopKind kind = HopKind::pcie;
  std::string link;  ///< for people: "PCIe below 0000:17:00.0, 32 GT/s x16", "18 NVLinks of GPU0"
  std::optional<double> gigabytes_per_second;  ///< one direction, by the link catalog; none when not known

  bool operator==(const PathHop&) const = default;
};

/// The way between two devices of one host.
struct Path {
  PathType type = PathType::loc;
  int nvlinks = 0;            ///< of an NVL or NVB path; the fewer where the two directions disagree
  std::vector<PathHop> hops;  ///< may be empty where a source states the type and nothing shows the way
  bool complete = true;       ///< false: a hop is missing or its rate is not known

  bool operator==(const Path&) const = default;
};

/// The path as the hardware has it, with nvidia-smi's distinction of PHB and NODE. None when the graph does
/// not tell. NVLink first, then what a source states (the driver may see switches that /sys hides), then
/// PCIe.
[[nodiscard]] std::optional<Path> path_between(const Host& host, const Device& a, const Device& b);

/// The type that the PCI tree alone shows; none when it does not tell.
[[nodiscard]] std::optional<PathType> pci_path_type(const Host& host, const Device& a, const Device& b);

/// NVLinks from one GPU to another, directly or through switches: 0 when there is none.
[[nodiscard]] int nvlinks_between(const Host& host, const Device& from, const Device& to);

/// All NVLinks of a GPU: its active ones where listed, else what bundles or `topo -m` show. 0: none known.
/// Where its links lead to switches, both count the same ones, and the lesser holds.
[[nodiscard]] int nvlinks_of(const Host& host, const Device& gpu);

/// The GPUs that list more active links than lead to switches: "GPU3: 18 active NVLinks are listed, and 14
/// lead to switches; the lesser is taken". Fewer active ones are a fault of the links, and no disagreement.
[[nodiscard]] std::vector<std::string> nvlink_disagreements(const Host& host);

/// Whether GPUs reach each other through NVSwitches: more NVLinks to peers than a GPU can have, or switches
/// in the graph.
[[nodiscard]] bool has_nvswitch(const Host& host);

/// NICs of the host by nearness to `gpu`: path type, then as listed; those without a known path last.
[[nodiscard]] std::vector<Device> nics_by_nearness(const Host& host, const Device& gpu);

}  // namespace collbench::topology
