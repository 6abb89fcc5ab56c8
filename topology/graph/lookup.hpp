#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/catalog/gpus.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The PCI function at `address`; none when the graph does not hold it (or `address` is empty).
[[nodiscard]] const PciDevice* find_pci_device(const Host& host, std::string_view address);
[[nodiscard]] const PciDevice* find_pci_device(const Host& host, const Device& device);

[[nodiscard]] std::optional<std::string> pci_address_of(const Host& host, const Device& device);

/// The function at `address` and the bridges above it, nearest first; empty when it is not in the graph.
[[nodiscard]] std::vector<const PciDevice*> way_to_root(const Host& host, std::string_view address);
[[nodiscard]] std::vector<const PciDevice*> way_to_root(const Host& host, const Device& device);

/// Whether a hypervisor made the bridge up: no real one above a GPU or a NIC has one lane of the first
/// generation, or that rate and no lanes at all (NVIDIA/nccl#749). Not one below such a bridge: NCCL and /sys
/// give a link what both of its ends allow.
[[nodiscard]] bool is_virtual_bridge(const Host& host, const PciDevice& device);

/// Its link in words: "2.5 GT/s x1", "2.5 GT/s, width unknown".
[[nodiscard]] std::string virtual_link_text(const PciDevice& bridge);

/// The NUMA node of a host that has one: what a VM's firmware leaves out is no question there.
[[nodiscard]] std::optional<int> only_numa_node(const Host& host);

/// The NUMA node next to the device, by its own fact, else by PCI, else by its affinity when that is one
/// node.
[[nodiscard]] std::optional<int> numa_node_of(const Host& host, const Device& device);

/// What people call it: "GPU3", "mlx5_0", "NIC2", "NVSwitch 0000:1a:00.0", "NUMA 0".
[[nodiscard]] std::string device_label(const Host& host, const Device& device);

/// All GPUs, then all NICs: what a matrix shows.
[[nodiscard]] std::vector<Device> gpus_and_nics(const Host& host);

/// What `topo -m` or another source says of the way from `from` to `to`, looked up in both directions.
[[nodiscard]] const StatedPath* find_stated_path(const Host& host, const Device& from, const Device& to);

/// "NCCL's ring", "NCCL's NVLS", by the id of a graph (nccl 2.30 src/include/graph.h).
[[nodiscard]] std::string nccl_graph_name(int id);

/// "mlx5_0 → GPU0 → GPU3 → mlx5_0"; a ring that stays inside the host is closed: "GPU0 → GPU3 → GPU0".
[[nodiscard]] std::string channel_text(const Host& host, const ChannelGraph& graph,
                                       const std::vector<Device>& channel);

/// The channels, sorted, and rings that stay inside the host turned to start at the same device: equal where
/// NCCL plans the same, in whatever order it found it.
[[nodiscard]] std::vector<std::vector<Device>> sorted_channels(const ChannelGraph& graph);

/// The catalog's model, by the GPU's name, else by its PCI function; null where neither is in it.
[[nodiscard]] const GpuModel* find_gpu_model(const Host& host, const Gpu& gpu);

/// Compute capability × 10: the GPU's own fact, else that of its model (topology/catalog/gpus.hpp).
[[nodiscard]] std::optional<int> sm_of(const Host& host, const Gpu& gpu);
[[nodiscard]] std::optional<GpuGeneration> generation_of(const Host& host, const Gpu& gpu);

/// Removes the bridges below which no GPU, NIC or NVSwitch hangs.
void drop_idle_bridges(Host& host);

/// Why the graph does not hold together (a reference to a device that is not there, a bridge below itself,
/// a source that is not listed); empty when it does.
[[nodiscard]] std::string find_inconsistency(const Host& host);

}  // namespace collbench::topology
