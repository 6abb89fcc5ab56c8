#include "topology/catalog/finding_kinds.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace collbench::topology {
namespace {

constexpr Severity kBroken = Severity::broken;
constexpr Severity kDegraded = Severity::degraded;
constexpr Severity kDiffers = Severity::differs;
constexpr Severity kCosmetic = Severity::cosmetic;

constexpr std::string_view kSearchLog =
    "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH collbench -g 8 | grep -A 8 Pattern";

constexpr std::array<FindingKind, 49> kFindingKinds{{
    {"gpu-missing", kBroken, "A GPU is missing: ranks assigned to it cannot start.",
     "lspci -d 10de: ; dmesg | grep -i xid", ""},
    {"nic-missing", kBroken, "A NIC is missing: its rail carries no traffic, and the other rails carry more.",
     "lspci -d ::0200 ; lspci -d ::0207 ; ibv_devices", ""},
    {"switch-missing", kBroken, "A PCIe switch is missing, with every device below it.", "lspci -tv", ""},
    {"nvswitch-missing", kBroken, "An NVSwitch is missing: every GPU loses its links to it.",
     "lspci -d 10de::0680 ; journalctl -u nvidia-fabricmanager", ""},
    {"fabric-manager", kBroken, "The fabric manager is not active: GPUs behind NVSwitches cannot use NVLink.",
     "systemctl status nvidia-fabricmanager", "host.fabric_manager"},
    {"fabric-state", kBroken, "The GPU has not joined the NVLink fabric: CUDA or NVLS fails.",
     "nvidia-smi -q | grep -A 4 Fabric", "GPU.fabric_state GPU.fabric_status"},
    {"nvlink-off", kBroken, "No NVLink of the GPU is up: its traffic goes through PCIe.",
     "nvidia-smi nvlink -s", "GPU.nvlink_state"},
    {"nvlink-fewer", kDegraded, "NVLinks are down: rings run at the rate of the GPU with the fewest links.",
     "nvidia-smi nvlink -s ; nvidia-smi topo -m", "GPU.nvlinks_active NVLink.count path.nvlinks"},
    {"nvlink-slower", kDegraded, "NVLinks run at a lower rate: some lanes may have failed training.",
     "nvidia-smi nvlink -s ; nvidia-smi nvlink -e",
     "GPU.nvlink_gigabytes_per_second NVLink.gigabytes_per_second"},
    {"c2c-slower", kDegraded, "The C2C links between a GPU and its CPU are fewer or slower.",
     "nvidia-smi c2c -s", "GPU.c2c_links GPU.c2c_gigabytes_per_second"},
    {"peer-access", kDegraded,
     "Two GPUs cannot access each other's memory: their traffic goes through the host.",
     "nvidia-smi topo -p2p rw", "peer.state"},
    {"mig-on", kDegraded, "A GPU in MIG mode has no NVLink and gives each process only part of its memory.",
     "nvidia-smi -q -d MIG", "GPU.mig GPU.mig_devices"},
    {"partitions", kDiffers,
     "A GPU is split into a different number of partitions: ranks see a different machine.",
     "rocm-smi --showcomputepartition", "GPU.partitions"},
    {"different-machine", kDiffers,
     "The two are different machines: what depends on the difference is not compared, only what is a fault "
     "by itself.",
     "collbench topo detect", ""},
    {"sources-disagree", kDiffers,
     "Files of one machine disagree: they may be of two machines, or of two times, and which is right is not "
     "known.",
     "collbench topo show FOLDER", ""},
    {"exceeds-reference", kDiffers,
     "The machine has more than the reference machine: it may be of another type.", "collbench topo detect",
     ""},
    {"gpu-model", kDiffers, "The GPU is a different model.", "nvidia-smi -L",
     "GPU.model GPU.sm GPU.memory_bytes"},
    {"virtualization", kDiffers, "The GPU is passed through on one machine only.",
     "nvidia-smi -q | grep -A 2 Virtualization", "GPU.virtualization"},
    {"pcie-narrow", kDegraded,
     "The PCIe link has fewer lanes than both ends allow, or than its counterpart's.",
     "lspci -vv -s ADDRESS | grep -E 'LnkCap|LnkSta'", "PCI.link_width_now PCI.link_width_max"},
    {"pcie-slow", kDegraded,
     "The PCIe link runs at a lower rate than both ends allow, or than its counterpart's.",
     "lspci -vv -s ADDRESS | grep -E 'LnkCap|LnkSta'", "PCI.link_rate_max PCI.link_bandwidth_max"},
    {"virtual-bridge", kDegraded,
     "A virtual machine shows a bridge with a link that no real one has: NCCL takes it for real and plans "
     "around it.",
     "lspci -vv -s ADDRESS | grep LnkSta ; echo $NCCL_TOPO_FILE",
     "PCI.link_width_now PCI.link_width_max PCI.link_rate_max"},
    {"switches-hidden", kDegraded,
     "No two devices share a PCIe switch: a virtual machine hides the switches, and NCCL pairs GPUs and NICs "
     "blindly.",
     "nvidia-smi topo -m ; echo $NCCL_TOPO_FILE", ""},
    {"acs-on", kDegraded, "ACS sends traffic between peers up to the host: GPUDirect crawls or fails.",
     "lspci -vvv | grep ACSCtl", "PCI.acs"},
    {"devices-apart", kDegraded, "Devices that are close on one machine are farther apart on the other.",
     "nvidia-smi topo -m ; lspci -tv", "path.type"},
    {"numa-moved", kDegraded, "The device is attached to a different NUMA node than its counterpart.",
     "cat /sys/bus/pci/devices/ADDRESS/numa_node", "PCI.numa_node NIC.numa_node"},
    {"numa-nodes", kDiffers, "Memory is divided into a different number of NUMA nodes (NPS, SNC).",
     "numactl --hardware", "GPU.gpu_numa_node"},
    {"affinity-cut", kDegraded, "Fewer CPUs are allowed: a cpuset or a binding restricts the mask.",
     "taskset -pc $$ ; cat /proc/self/status | grep allowed",
     "NUMA.cpus GPU.cpu_affinity GPU.numa_affinity NIC.cpu_affinity"},
    {"affinity-differs", kDiffers, "The device is local to different CPUs than its counterpart.",
     "nvidia-smi topo -m ; numactl --hardware",
     "NUMA.cpus GPU.cpu_affinity GPU.numa_affinity NIC.cpu_affinity"},
    {"numa-memory", kDiffers, "The NUMA node has a different amount of memory.",
     "numactl --hardware ; dmidecode -t memory", "NUMA.memory_bytes"},
    {"cpu-model", kDiffers, "The CPU is a different model.", "lscpu",
     "NUMA.package NUMA.architecture NUMA.cpu_vendor NUMA.cpu_family NUMA.cpu_model NUMA.cpu_name"},
    {"gpudirect-missing", kDegraded, "Without GPUDirect RDMA, NIC traffic goes through host memory.",
     "lsmod | grep -E 'peermem|peer_mem'", "host.peer_memory GPU.gpudirect NIC.gpudirect"},
    {"nic-port-down", kBroken, "The port is not active: it carries no traffic.", "ibstat ; ip link",
     "port.state port.physical_state"},
    {"nic-port-slower", kDegraded, "The port came up at a lower rate.", "ibstat ; ethtool INTERFACE",
     "port.gigabits_per_second"},
    {"nic-mtu", kDegraded, "The MTU differs: a smaller one costs bandwidth, and a mismatch drops packets.",
     "ip link ; ibv_devinfo | grep mtu", "port.mtu_bytes"},
    {"nic-link-layer", kDiffers, "The port uses the other link layer: InfiniBand or Ethernet.", "ibstat",
     "port.link_layer"},
    {"nics-unlisted", kDiffers,
     "nvidia-smi lists no NIC: they are lost, or it ran in a container that hides them; it is not known "
     "which.",
     "ls -l /sys/class/infiniband", ""},
    {"nic-model", kDiffers, "The NIC is a different model or has a different driver.", "lspci -k -s ADDRESS",
     "NIC.board NIC.driver"},
    {"nic-firmware", kDiffers, "The NIC has different firmware.", "ibstat | grep Firmware", "NIC.firmware"},
    {"nic-renumbered", kDiffers,
     "NIC names are swapped: settings by name or number select other rails (nccl#820, #856).",
     "ls -l /sys/class/infiniband", ""},
    {"graph-slower", kDegraded, "NCCL's search found less bandwidth: fewer channels, or slower ones.",
     kSearchLog, "graph.intra_gigabytes_per_second graph.inter_gigabytes_per_second"},
    {"graph-path", kDegraded, "NCCL's search had to accept longer paths, which carry less.", kSearchLog,
     "graph.intra_type graph.inter_type"},
    {"graph-nic-unused", kDegraded, "NCCL does not use a NIC that it uses on the other machine.", kSearchLog,
     ""},
    {"graph-cross-nic", kDiffers, "NCCL's channels cross rails on one machine only.", kSearchLog,
     "graph.cross_nic"},
    {"graph-order", kDiffers, "NCCL's channels take different routes through the same devices.", kSearchLog,
     "graph.pattern"},
    {"driver-version", kDiffers, "The NVIDIA driver version differs.", "nvidia-smi --version",
     "host.driver_version host.cuda_version"},
    {"extra-device", kDiffers, "The machine has a device that the reference machine lacks.", "lspci -tv", ""},
    {"pci-model", kDiffers, "The PCI function is a different part.", "lspci -nn -s ADDRESS",
     "PCI.class PCI.vendor PCI.device"},
    {"pci-subsystem", kCosmetic, "The card has a different vendor or revision.", "lspci -vnn -s ADDRESS",
     "PCI.subsystem_vendor PCI.subsystem_device"},
    {"product", kCosmetic, "The product name differs.", "dmidecode -s system-product-name", "host.product"},
}};

bool contains_word(std::string_view words, std::string_view word) {
  if (word.empty()) return false;
  const std::string padded = " " + std::string(words) + " ";
  return padded.find(" " + std::string(word) + " ") != std::string::npos;
}

}  // namespace

std::string_view severity_name(Severity severity) {
  constexpr std::array<std::string_view, 4> kNames{"broken", "degraded", "differs", "cosmetic"};
  return kNames.at(static_cast<std::size_t>(severity));
}

std::span<const FindingKind> finding_kinds() { return kFindingKinds; }

const FindingKind& finding_kind(std::string_view code) {
  const auto* found = std::ranges::find(kFindingKinds, code, &FindingKind::code);
  if (found == kFindingKinds.end()) throw std::out_of_range("no finding has the code " + std::string(code));
  return *found;
}

bool reads(const FindingKind& kind, std::string_view attribute) {
  return contains_word(kind.attributes, attribute);
}

}  // namespace collbench::topology
