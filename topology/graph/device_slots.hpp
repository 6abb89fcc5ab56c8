#pragma once
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// How near two devices of one host are, as coarse as sources of every kind can tell.
enum class Nearness {
  unknown,
  one_switch,  ///< LOC, PIX, PXB: below one PCIe switch, or on one card
  one_node,    ///< PHB, NODE: by the CPU of one NUMA node
  far,         ///< SYS
};

/// Where a device sits and what it is, without its name.
struct DeviceSlot {
  Device device;
  std::string address;  ///< empty where not known
  std::string name;   ///< a NIC's, a GPU's UUID: what tells twins apart where no address is known; else empty
  std::string model;  ///< empty where not known
  int numa_node = -1;  ///< −1: not known
};

/// The devices of a host and how they are connected; `near` and `nvlinks` go by position in `slots`.
struct SlotPlan {
  std::vector<DeviceSlot> slots;  ///< GPUs, then NVSwitches, then NICs, each by address, else by rank
  std::vector<std::vector<Nearness>> near;
  std::vector<std::vector<int>> nvlinks;  ///< from the row to the column
};

/// How the NVLinks of a host are counted. Through switches, a list of links counts those from a GPU to each
/// switch, and a matrix those by which every pair of GPUs is connected: to compare one with the other, both
/// are counted by pairs.
enum class NvLinkCount { not_at_all, by_wire, by_pair };

/// The way to count that both hosts allow; not_at_all where a host says nothing of NVLinks between GPUs.
[[nodiscard]] NvLinkCount common_nvlink_count(const Host& a, const Host& b);

[[nodiscard]] int counted_nvlinks(const Host& host, const Device& from, const Device& to, NvLinkCount count);

[[nodiscard]] SlotPlan slot_plan(const Host& host, NvLinkCount count = NvLinkCount::by_wire);

/// How near two GPUs or NICs are, NVLink aside: by what a source states, else by the PCI tree. Unknown where
/// neither says: a cell "NV18" tells nothing of the PCIe below it.
[[nodiscard]] Nearness nearness(const Host& host, const Device& a, const Device& b);

/// NVLinks from one device to another that it is wired to directly; what `topo -m` states where no source
/// lists them.
[[nodiscard]] int wired_nvlinks(const Host& host, const Device& from, const Device& to);

}  // namespace collbench::topology
