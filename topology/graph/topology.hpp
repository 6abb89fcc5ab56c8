#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace collbench::topology {

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

[[nodiscard]] std::optional<PathType> path_type_from_name(std::string_view name);

/// nvidia-smi's word for `type`, without the number of NVLinks: "NV", "X"; it has none for some of NCCL's.
[[nodiscard]] std::optional<std::string_view> nvidia_smi_word(PathType type);

/// Something that was asked about a machine.
struct Source {
  std::string reader;    ///< what it is: "nvidia-smi topo -m", "hwloc XML"
  std::string location;  ///< the file, or "live"
  std::string version;   ///< of what answered: the driver, hwloc; empty when it does not say

  bool operator==(const Source&) const = default;
};

/// The reader of facts of reference_machines.hpp, also in a file that one was saved to.
inline constexpr std::string_view kReferenceMachine = "reference machine";

/// One attribute: what is known, and who said so. A reader makes facts of source 0; merging renumbers them.
template <class T>
struct Fact {
  std::optional<T> value;
  int source = 0;  ///< index into Host::sources; without meaning while `value` is empty

  [[nodiscard]] bool known() const { return value.has_value(); }
  [[nodiscard]] T value_or(T otherwise) const { return value.value_or(std::move(otherwise)); }
  bool operator==(const Fact&) const = default;
};

enum class DeviceKind { gpu, nic, nvswitch, numa_node };

/// A device of one host: the kind, and the index in the host's list of that kind.
struct Device {
  DeviceKind kind = DeviceKind::gpu;
  int index = 0;

  bool operator==(const Device&) const = default;
};

/// One side of a PCIe link, as the device below it reports it.
struct PcieLink {
  Fact<double> gigatransfers_per_second;  ///< per lane: 2.5, 5, 8, 16, 32, 64
  Fact<int> width;                        ///< lanes
  /// All lanes, one direction, after coding: what hwloc gives instead, from which rate and width do not
  /// follow (Gen4 x8 is Gen3 x16).
  Fact<double> gigabytes_per_second;

  bool operator==(const PcieLink&) const = default;
};

/// A PCI function: a bridge, a switch port, or an endpoint. Its key is the address.
struct PciDevice {
  std::string address;            ///< "0000:17:00.0", lower case (topology/graph/pci.hpp)
  std::string parent;             ///< address of the bridge above; empty at the root
  Fact<std::string> host_bridge;  ///< "0000:2b", given only at the root: the host bridge that it hangs on
  Fact<int> numa_node;            ///< index that the system gives, not a position in Host::numa_nodes
  Fact<std::string> class_code;   ///< "0x030200"
  Fact<std::string> vendor;       ///< "0x10de"
  Fact<std::string> device;
  Fact<std::string> subsystem_vendor;
  Fact<std::string> subsystem_device;
  Fact<bool> acs;     ///< Access Control Services are on: peers' requests go up to the host
  PcieLink link_now;  ///< idle GPUs slow their link down: judge the width always, the rate only under load
  PcieLink link_max;  ///< what both ends could do, where the source knows both; else what the device could

  bool operator==(const PciDevice&) const = default;
};

/// Memory and the logical CPUs next to it.
struct NumaNode {
  int index = 0;           ///< that the system gives
  Fact<std::string> cpus;  ///< list: "0-13,28-41"
  Fact<std::uint64_t> memory_bytes;
  Fact<int> package;               ///< socket
  Fact<std::string> architecture;  ///< "x86_64"
  Fact<std::string> cpu_vendor;    ///< as CPUID says: "GenuineIntel"
  Fact<int> cpu_family;
  Fact<int> cpu_model;
  Fact<std::string> cpu_name;

  bool operator==(const NumaNode&) const = default;
};

struct Gpu {
  Fact<int> index;  ///< nvidia-smi's (and NVML's): by PCI address, unlike CUDA's
  Fact<std::string> pci_address;
  Fact<std::string> uuid;
  Fact<std::string> serial;
  Fact<std::string> model;  ///< "NVIDIA H100 80GB HBM3"
  Fact<int> sm;             ///< compute capability × 10: 90
  Fact<std::uint64_t> memory_bytes;
  Fact<bool> mig;
  Fact<int> mig_devices;
  Fact<int> partitions;  ///< devices that the system counts it as (AMD: 1 in SPX, 6 in CPX)
  Fact<bool> gpudirect;  ///< GPUDirect RDMA, as NCCL found it
  Fact<int> nccl_rank;
  Fact<std::string> cpu_affinity;   ///< list of CPUs
  Fact<std::string> numa_affinity;  ///< list of NUMA nodes
  Fact<std::string> gpu_numa_node;  ///< NUMA node that its own memory forms (coherent GPUs); "N/A" otherwise
  Fact<int> nvlinks_active;
  Fact<int> nvlinks_inactive;      ///< listed as inactive; by design on some models (12 of 18 on H100 NVL)
  Fact<std::string> nvlink_state;  ///< a sentence that replaces the list of links
  Fact<double> nvlink_gigabytes_per_second;  ///< one link, one direction, signalling rate
  Fact<int> c2c_links;
  Fact<double> c2c_gigabytes_per_second;  ///< one direction, all links
  Fact<std::string> fabric_state;         ///< fabric manager: "Completed", "In Progress", "N/A"
  Fact<std::string> fabric_status;        ///< "Success" or the error
  Fact<std::string> virtualization;       ///< "None", "Pass-Through", …

  bool operator==(const Gpu&) const = default;
};

struct NvSwitch {
  Fact<std::string> pci_address;

  bool operator==(const NvSwitch&) const = default;
};

/// The NVLinks from one device to another. One direction: a fault may show on one side only.
struct NvLinkBundle {
  Device from;
  Device to;
  Fact<int> count;
  Fact<double> gigabytes_per_second;  ///< all links of the bundle, one direction, signalling rate

  bool operator==(const NvLinkBundle&) const = default;
};

struct NicPort {
  int number = 1;
  Fact<std::string> link_layer;  ///< "InfiniBand" or "Ethernet"
  Fact<double> gigabits_per_second;
  Fact<std::string> state;           ///< "ACTIVE", "DOWN", "INIT", "ARMED"
  Fact<std::string> physical_state;  ///< "LinkUp", "Polling", "Disabled"
  Fact<int> mtu_bytes;               ///< of the Ethernet interface
  Fact<std::string> gid;             ///< of index 0

  bool operator==(const NicPort&) const = default;
};

struct Nic {
  Fact<std::string> name;        ///< RDMA device ("mlx5_0"), or what NCCL calls it
  Fact<std::string> label;       ///< nvidia-smi's: "NIC0"
  Fact<std::string> interfaces;  ///< kernel network interfaces, comma-separated: "ib0"
  Fact<std::string> pci_address;
  Fact<std::string> guid;         ///< of the node: "0xb83fd203002aa358"
  Fact<std::string> system_guid;  ///< of the card: functions and ports of one card share it
  Fact<std::string> driver;
  Fact<std::string> board;
  Fact<std::string> firmware;
  Fact<int> numa_node;
  Fact<std::string> cpu_affinity;
  Fact<bool> gpudirect;
  Fact<int> nccl_net;  ///< NCCL's number: its graphs name NICs by it
  std::vector<NicPort> ports;

  bool operator==(const Nic&) const = default;
};

/// What a source says of the way between two devices without showing the way itself (`topo -m`).
struct StatedPath {
  Device from;
  Device to;
  Fact<PathType> type;
  Fact<int> nvlinks;  ///< of an NVL path

  bool operator==(const StatedPath&) const = default;
};

/// What `topo -p2p` says of two GPUs: "OK", or why not.
struct PeerAccess {
  Device from;
  Device to;
  Fact<std::string> state;

  bool operator==(const PeerAccess&) const = default;
};

/// What NCCL's search made of the machine for one algorithm.
struct ChannelGraph {
  int id = 0;            ///< 0 ring, 1 tree, 2 CollNet chain, 3 NVLS, 4 CollNet direct
  Fact<int> pattern;     ///< 1 balanced tree, 2 split tree, 3 tree, 4 ring, 5 NVLS, 6 CollNet direct
  Fact<bool> cross_nic;  ///< a channel may leave by another NIC than the one that it comes in by
  Fact<bool> same_channels;
  Fact<double> intra_gigabytes_per_second;  ///< of one channel between GPUs, as NCCL counts
  Fact<double> inter_gigabytes_per_second;  ///< of one channel to the network
  Fact<double> inter_latency;               ///< of the NICs, as the network plugin says
  Fact<PathType> intra_type;                ///< the longest path between GPUs that it allows itself
  Fact<PathType> inter_type;
  /// Each the GPUs in turn, between the NICs that it comes in and leaves by where there is a network. Of NVLS
  /// only the first GPU.
  std::vector<std::vector<Device>> channels;

  bool operator==(const ChannelGraph&) const = default;
};

/// Two sources that disagree. The graph holds `kept`; both are shown.
struct Disagreement {
  std::string device;
  std::string attribute;
  std::string kept;
  int kept_source = 0;
  std::string other;
  int other_source = 0;

  bool operator==(const Disagreement&) const = default;
};

/// What is hidden, and how to get it; or `kLeftOut` and a file of a folder, with the reason.
struct HostNote {
  std::string text;
  bool is_left_out = false;

  bool operator==(const HostNote&) const = default;
};
inline constexpr std::string_view kLeftOut = "left out: ";

struct Host {
  std::vector<Source> sources;
  Fact<std::string> name;
  Fact<std::string> product;
  Fact<std::string> fabric_manager;  ///< state of the service: "active", "inactive", "failed"
  Fact<std::string> driver_version;  ///< NVIDIA's
  Fact<std::string> cuda_version;    ///< that the driver supports
  Fact<std::string> peer_memory;     ///< kernel module for GPUDirect RDMA: "nvidia_peermem", "none"
  std::vector<NumaNode> numa_nodes;
  std::vector<PciDevice> pci_devices;
  std::vector<Gpu> gpus;
  std::vector<NvSwitch> nvswitches;
  std::vector<Nic> nics;
  std::vector<NvLinkBundle> nvlinks;
  std::vector<StatedPath> stated_paths;
  std::vector<PeerAccess> peer_access;
  std::vector<ChannelGraph> nccl_graphs;  ///< one for each id
  std::vector<Disagreement> disagreements;
  std::vector<HostNote> notes;

  bool operator==(const Host&) const = default;
};

inline constexpr int kTopologySchemaVersion = 1;

/// The graph. Between hosts there is only the network.
struct Topology {
  std::vector<Host> hosts;

  bool operator==(const Topology&) const = default;
};

}  // namespace collbench::topology
