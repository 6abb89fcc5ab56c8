#pragma once
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "topology/graph/topology.hpp"

// Every source of a topology: what it is called, what it recognizes, what it lists, and the function that
// reads it. A reader is declared here, defined in a .cpp of its own and listed in registry.cpp; nothing else
// names it.
//
// A read function takes the text of a file and opens none; `file` stands in errors. It throws Error (usage)
// with FILE:LINE for anything but a whole, undamaged output of its source.

namespace collbench::topology {

/// A text of unknown format, prepared once for all the readers that are asked whether it is theirs.
struct ReaderInput {
  explicit ReaderInput(std::string_view whole);

  std::string_view text;
  bool xml = false;         ///< the first character is '<'
  std::vector<Line> lines;  ///< of what is not XML
};

/// The kinds of device of which a source lists every one, so that one that it does not list is missing.
struct ReaderCoverage {
  bool gpus = true;
  bool nics = true;
  bool nvswitches = true;

  [[nodiscard]] bool covers(DeviceKind kind) const;
};

/// One source. A source of files has `recognizes` and `read`, one of folders (/sys or a copy) has the
/// functions of a tree; one that is only asked live has neither.
struct TopologyReader {
  std::string_view name;  ///< Source::reader, and what an error lists as readable
  ReaderCoverage coverage;
  bool (*recognizes)(const ReaderInput& input) =
      nullptr;  ///< holds for damaged output, too: reading it tells
  Host (*read)(std::string_view text, std::string_view file) = nullptr;
  bool (*recognizes_tree)(const std::filesystem::path& root) = nullptr;
  Host (*read_tree)(const std::filesystem::path& root) = nullptr;

  /// The entry of Host::sources for what was read from `location`: a file, or "live".
  [[nodiscard]] Source source(std::string_view location, std::string_view version = {}) const;
};

/// All of them, in the order in which a text is offered to them.
[[nodiscard]] std::span<const TopologyReader* const> topology_readers();

/// Whether a source of the host lists all devices of the kind, so that one that is not there is missing:
/// nvidia-smi nvlink -s knows nothing of NICs, ibstat nothing of GPUs, and NCCL's graphs hold only the NICs
/// that they go by. A source that is not in the registry (a reference machine, a newer collbench) does.
[[nodiscard]] bool lists_all(const Host& host, DeviceKind kind);

/// Whether the text is meant to be a topology that collbench saved.
[[nodiscard]] bool is_saved_topology(std::string_view text);

/// Any file that describes a machine: a topology that collbench saved, or what a reader recognizes. A text
/// with the output of several commands is read as all of them, merged; an XML document is of one kind. Throws
/// Error (usage) that says what the file seems to be when it is nothing of these.
[[nodiscard]] Topology read_any_topology(std::string_view text, std::string_view file);

/// Whether a folder is /sys or a copy of a part of it.
[[nodiscard]] bool is_sysfs(const std::filesystem::path& root);

/// The same folder as all readers of trees see it, merged. What is hidden or absent is in the notes.
[[nodiscard]] Host read_sysfs(const std::filesystem::path& root);

extern const TopologyReader kNcclTopologyReader;
extern const TopologyReader kNcclGraphReader;
extern const TopologyReader kHwlocXmlReader;
extern const TopologyReader kNvidiaSmiQueryReader;
extern const TopologyReader kNvidiaSmiP2pReader;
extern const TopologyReader kNvidiaSmiTopoReader;
extern const TopologyReader kNvidiaSmiNvlinkReader;
extern const TopologyReader kNvidiaSmiCsvReader;
extern const TopologyReader kLspciReader;
extern const TopologyReader kIbstatReader;
extern const TopologyReader kSysfsPciReader;
extern const TopologyReader kSysfsInfinibandReader;
extern const TopologyReader kSysfsNetReader;
extern const TopologyReader kLibhwlocReader;
extern const TopologyReader kFabricManagerReader;
extern const TopologyReader kSystemReader;

/// NCCL's topology XML: a dump (NCCL_TOPO_DUMP_FILE) or a provider's file (NCCL_TOPO_FILE). What it does not
/// know is counted in the notes.
[[nodiscard]] Host read_nccl_topology_xml(std::string_view text, std::string_view file);

/// What NCCL writes for the address of an NVSwitch that a VM does not show (2.30 src/graph/xml.cc). Where
/// NVML gives an address of nothing but ones, NCCL writes that one: is_hidden_nvswitch() knows both.
inline constexpr std::string_view kHiddenNvSwitch = "fffffff:ffff:ff";
/// What a file for NCCL says of a CPU's architecture or vendor that no source gives: NCCL asks for a word.
inline constexpr std::string_view kUnknownToNccl = "unknown";
inline constexpr int kNotKnownToNccl = -1;  ///< the same of a number

/// NCCL's graph XML: a dump (NCCL_GRAPH_DUMP_FILE) or what it is told to use (NCCL_GRAPH_FILE). It names GPUs
/// by nvidia-smi's index and NICs by NCCL's own number, so it tells more beside the topology XML of the same
/// machine. The graph of an NVLink domain of several hosts is refused.
[[nodiscard]] Host read_nccl_graph_xml(std::string_view text, std::string_view file);

/// hwloc's XML, 1.x to 3.x, by our own reader: libhwloc 2.9 refuses the files of version 3. Takes NUMA nodes,
/// bridges, GPUs, NICs and the NVLink matrix; caches, disks and groups are passed over.
[[nodiscard]] Host read_hwloc_xml(std::string_view text, std::string_view file);

/// This machine through libhwloc: NUMA nodes, CPUs, the PCI tree, GPUs and NICs. Throws Error (not_here) when
/// libhwloc fails.
[[nodiscard]] Host read_hwloc_live();

/// Why these lines of `file` are not what was to be read: nvidia-smi's own words when it failed, `missing`
/// otherwise.
[[nodiscard]] Error without_nvidia_smi_output(const std::vector<Line>& lines, std::string_view file,
                                              const Error& missing);

/// `nvidia-smi -q -x` (the DTDs nvsmi_device_v10 to v13): GPUs with UUID, model, memory, MIG, fabric state,
/// and their PCIe links.
[[nodiscard]] Host read_nvidia_smi_query(std::string_view text, std::string_view file);

/// `nvidia-smi topo -m`: GPUs with their affinity, NICs by label and name, and the path type of every pair.
[[nodiscard]] Host read_nvidia_smi_topo(std::string_view text, std::string_view file);

/// `nvidia-smi topo -p2p r` (or w, n, a, p): what each pair of GPUs can do, in the tool's words: OK, CNS
/// (chipset not supported), GNS (GPU not supported), TNS (topology not supported), NS, DR (disabled), U.
[[nodiscard]] Host read_nvidia_smi_p2p(std::string_view text, std::string_view file);

/// `nvidia-smi nvlink -s`: per GPU its UUID, model, and the number, state and rate of its NVLinks. A sentence
/// in their place ("all links are inactive", MIG mode, no NVLink) is kept in nvlink_state.
[[nodiscard]] Host read_nvidia_smi_nvlink(std::string_view text, std::string_view file);

/// `nvidia-smi --query-gpu=FIELDS --format=csv` (or csv,nounits): whatever of its fields is known here, found
/// by the header line, so that line is needed.
[[nodiscard]] Host read_nvidia_smi_csv(std::string_view text, std::string_view file);

/// The output of `lspci -vvv` run as root: PCI functions, the bridges above them, their links as they are and
/// could be, and ACS.
[[nodiscard]] Host read_lspci(std::string_view text, std::string_view file);

/// The output of `ibstat`: RDMA devices, their firmware and GUIDs, and the state of their ports.
[[nodiscard]] Host read_ibstat(std::string_view text, std::string_view file);

/// What the kernel alone tells: the host's name, live, and the version of the NVIDIA driver below `sysfs`.
[[nodiscard]] Host read_system(const std::filesystem::path& sysfs);

/// GPUs, NICs and NVSwitches below ROOT/bus/pci/devices, with the bridges above them and their PCIe links.
/// `root` is /sys or a copy. What is hidden is in the notes; never throws for it.
[[nodiscard]] Host read_sysfs_pci(const std::filesystem::path& root);

/// RDMA devices below ROOT/class/infiniband: ports with link layer, rate and state, GUID, firmware, and the
/// kernel interfaces that belong to them. `root` is /sys or a copy. What is hidden is in the notes.
[[nodiscard]] Host read_sysfs_infiniband(const std::filesystem::path& root);

/// Network interfaces below ROOT/class/net that have a PCI function: MTU, speed and state. Loopback, bridges
/// and other interfaces without hardware are left out. `root` is /sys or a copy.
[[nodiscard]] Host read_sysfs_net(const std::filesystem::path& root);

}  // namespace collbench::topology
