// reference_host() of reference_machines.hpp: from the table's row to a graph.
#include "topology/machines/reference_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "topology/catalog/gpus.hpp"

namespace collbench::topology {
namespace {

using Switch = ReferenceSwitch;

constexpr std::array<Switch, 4> kDgx1V{{{2, 1, 0}, {2, 1, 0}, {2, 1, 1}, {2, 1, 1}}};
constexpr std::array<Switch, 4> kDgxA100{{{2, 2, 3}, {2, 2, 1}, {2, 2, 7}, {2, 2, 5}}};
constexpr std::array<Switch, 4> kTwoAndTwoOn2{{{2, 2, 0}, {2, 2, 0}, {2, 2, 1}, {2, 2, 1}}};
constexpr std::array<Switch, 4> kTwoAndTwoOn4{{{2, 2, 0}, {2, 2, 1}, {2, 2, 2}, {2, 2, 3}}};
constexpr std::array<Switch, 4> kTwoAndOne{{{2, 1, 0}, {2, 1, 0}, {2, 1, 1}, {2, 1, 1}}};
constexpr std::array<Switch, 4> kTwoAlone{{{2, 0, 0}, {2, 0, 0}, {2, 0, 1}, {2, 0, 1}}};
constexpr std::array<Switch, 8> kOneAndOne{
    {{1, 1, 0}, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}};
constexpr std::array<Switch, 8> kOneAndTwo{
    {{1, 2, 0}, {1, 2, 0}, {1, 2, 0}, {1, 2, 0}, {1, 2, 1}, {1, 2, 1}, {1, 2, 1}, {1, 2, 1}}};
constexpr std::array<Switch, 8> kOneAndFour{
    {{1, 4, 0}, {1, 4, 0}, {1, 4, 0}, {1, 4, 0}, {1, 4, 1}, {1, 4, 1}, {1, 4, 1}, {1, 4, 1}}};
constexpr std::array<Switch, 4> kFourSuperchips{{{1, 1, 0}, {1, 1, 1}, {1, 1, 2}, {1, 1, 3}}};
/// Each on a root port of the one socket.
constexpr std::array<Switch, 6> kRootPorts{
    {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}}};
constexpr std::array<Switch, 4> kGraceTray{{{1, 1, 0}, {1, 1, 0}, {1, 1, 1}, {1, 1, 1}}};

/// The hybrid cube mesh of DGX-1V: six links a GPU.
constexpr std::array<ReferencePair, 16> kCubeMesh{{{0, 1, 1},
                                                   {0, 2, 1},
                                                   {0, 3, 2},
                                                   {0, 4, 2},
                                                   {1, 2, 2},
                                                   {1, 3, 1},
                                                   {1, 5, 2},
                                                   {2, 3, 2},
                                                   {2, 6, 1},
                                                   {3, 7, 1},
                                                   {4, 5, 1},
                                                   {4, 6, 1},
                                                   {4, 7, 2},
                                                   {5, 6, 2},
                                                   {5, 7, 1},
                                                   {6, 7, 2}}};
/// Bridges over neighboring cards.
constexpr std::array<ReferencePair, 4> kBridgesOf12{{{0, 1, 12}, {2, 3, 12}, {4, 5, 12}, {6, 7, 12}}};
/// Four GPUs, each wired to every other one, by a third of its links.
constexpr std::array<ReferencePair, 6> kEachToEach{
    {{0, 1, 6}, {0, 2, 6}, {0, 3, 6}, {1, 2, 6}, {1, 3, 6}, {2, 3, 6}}};
constexpr std::array<ReferencePair, 6> kEachToEachBy4{
    {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}, {1, 2, 4}, {1, 3, 4}, {2, 3, 4}}};
constexpr std::array<ReferencePair, 0> kNoPairs{};

// The columns in the order of ReferenceMachine. CPUs by CPUID: Broadwell 6/79, Cascade Lake 6/85, Sapphire
// Rapids 6/143, Emerald Rapids 6/207, Granite Rapids 6/173 (Linux, arch/x86/include/asm/intel-family.h); EPYC
// Rome 23/49, Milan 25/1, Genoa 25/17 (AMD's processor programming references are named after them).
constexpr std::array<ReferenceMachine, 22> kMachines{{
    {"dgx-1v", "8 × V100 in a cube mesh, 4 × 100 Gb/s InfiniBand", "Tesla V100-SXM2-32GB", 8,
     NvLinkWiring::pairs, 6, 0, kCubeMesh, kDgx1V, 100, 8, "InfiniBand", "IB", "GenuineIntel", 6, 79, 0, 0,
     "NVIDIA DGX-1 with V100 system architecture white paper (2 × Xeon E5-2698 v4); a published topo -m"},
    {"hgx-a100", "8 × A100 SXM, 8 × 200 Gb/s InfiniBand", "NVIDIA A100-SXM4-80GB", 16, NvLinkWiring::switches,
     12, 6, kNoPairs, kTwoAndTwoOn2, 200, 16, "InfiniBand", "IB", "AuthenticAMD", 23, 49, 0, 0,
     "NVIDIA HGX A100 data sheet: 600 GB/s of NVLink per GPU, 6 NVSwitches; CPU of DGX A100"},
    {"dgx-a100", "8 × A100 SXM, 8 × 200 Gb/s InfiniBand", "NVIDIA A100-SXM4-40GB", 16, NvLinkWiring::switches,
     12, 6, kNoPairs, kDgxA100, 200, 16, "InfiniBand", "IB", "AuthenticAMD", 23, 49, 0, 0,
     "NVIDIA DGX A100 user guide: 2 × EPYC 7742 in NPS4, GPU pairs on NUMA 3, 1, 7, 5"},
    {"hgx-h100", "8 × H100 SXM, 8 × 400 Gb/s InfiniBand", "NVIDIA H100 80GB HBM3", 32, NvLinkWiring::switches,
     18, 4, kNoPairs, kOneAndOne, 400, 32, "InfiniBand", "IB", "GenuineIntel", 6, 143, 0, 0,
     "NVIDIA DGX/HGX H100 data sheets: 900 GB/s of NVLink per GPU, 4 NVSwitches, 8 × ConnectX-7; NVIDIA's "
     "MLPerf 3.1 entry: Xeon 8480C"},
    {"p4de", "8 × A100 SXM, 4 × 100 Gb/s EFA (AWS p4de.24xlarge)", "NVIDIA A100-SXM4-80GB", 8,
     NvLinkWiring::switches, 12, 6, kNoPairs, kTwoAndOne, 100, 8, "Ethernet", "EFA", "GenuineIntel", 6, 85, 0,
     0,
     "AWS EC2 P4 page: 400 Gb/s over 4 EFA; aws-ofi-nccl's topology file for p4d: a NIC for two GPUs, PCIe "
     "at 8 GT/s (Cascade Lake has Gen3), and the CPU"},
    {"p5", "8 × H100 SXM, 32 × 100 Gb/s EFA (AWS p5.48xlarge)", "NVIDIA H100 80GB HBM3", 32,
     NvLinkWiring::switches, 18, 4, kNoPairs, kOneAndFour, 100, 32, "Ethernet", "EFA", "AuthenticAMD", 25, 1,
     0, 0,
     "AWS EC2 P5 page: 3200 Gb/s over 32 EFA, four per GPU; a published listing of such a node: EPYC 7R13"},
    {"a3-mega", "8 × H100 SXM, 8 × 200 Gb/s TCPXO (Google a3-megagpu-8g)", "NVIDIA H100 80GB HBM3", 32,
     NvLinkWiring::switches, 18, 4, kNoPairs, kOneAndOne, 200, 32, "Ethernet", "TCPXO", "GenuineIntel", 6,
     143, 0, 0,
     "Google Cloud machine types: 1600 Gb/s over 8 GPU NICs; Google's announcement of A3: 4th generation "
     "Xeon"},
    {"oci-h100", "8 × H100 SXM, 16 × 200 Gb/s RoCE (OCI BM.GPU.H100.8)", "NVIDIA H100 80GB HBM3", 32,
     NvLinkWiring::switches, 18, 4, kNoPairs, kOneAndTwo, 200, 32, "Ethernet", "RoCE", "GenuineIntel", 6, 143,
     0, 0,
     "OCI compute shapes: 8 × 2 × 200 Gb/s; OCI's NCCL topology file: a two-port NIC beside each GPU, and "
     "the CPU"},
    {"a100-pcie", "8 × A100 PCIe, no NVLink, no fast NIC", "NVIDIA A100-PCIE-40GB", 16, NvLinkWiring::none, 0,
     0, kNoPairs, kTwoAlone, 0, 0, "", "", "AuthenticAMD", 23, 49, 0, 0,
     "NVIDIA A100 PCIe product brief: Gen4 x16; two cards per switch is the usual server; NVIDIA's MLPerf "
     "3.1 entry of 8 PCIe cards: EPYC 7742"},
    {"hgx-h200", "8 × H200 SXM, 8 × 400 Gb/s InfiniBand", "NVIDIA H200", 32, NvLinkWiring::switches, 18, 4,
     kNoPairs, kOneAndOne, 400, 32, "InfiniBand", "IB", "GenuineIntel", 6, 143, 0, 0,
     "NVIDIA HGX H200 data sheet: 900 GB/s of NVLink per GPU; NVIDIA's MLPerf 4.1 entry: Xeon 8480C"},
    {"hgx-b200", "8 × B200, 8 × 400 Gb/s InfiniBand", "NVIDIA B200", 32, NvLinkWiring::switches, 18, 2,
     kNoPairs, kOneAndOne, 400, 32, "InfiniBand", "IB", "GenuineIntel", 6, 207, 0, 0,
     "NVIDIA DGX/HGX B200 data sheets: 1.8 TB/s of NVLink per GPU, 2 NVSwitches, 8 × ConnectX-7; DGX B200 "
     "user guide: 2 × Xeon 8570"},
    {"gb200-nvl72", "4 × GB200 per tray, 72 in one NVLink domain, 4 × 400 Gb/s InfiniBand", "NVIDIA GB200",
     32, NvLinkWiring::switches, 18, 18, kNoPairs, kGraceTray, 400, 32, "InfiniBand", "IB", "ARM", 0, 0, 450,
     72,
     "NVIDIA GB200 NVL72 data sheet: 18 trays of 4 GPUs and 2 Grace CPUs, 18 NVLink switch chips, C2C 900 "
     "GB/s"},
    {"hgx-h800", "8 × H800 SXM, 8 × 400 Gb/s InfiniBand", "NVIDIA H800", 32, NvLinkWiring::switches, 8, 4,
     kNoPairs, kOneAndOne, 400, 32, "InfiniBand", "IB", "GenuineIntel", 6, 143, 0, 0,
     "published topo -m and nvlink -s of H800 nodes: NV8; otherwise as hgx-h100"},
    {"h100-nvl", "8 × H100 NVL in four bridged pairs, 4 × 400 Gb/s InfiniBand", "NVIDIA H100 NVL", 32,
     NvLinkWiring::pairs, 12, 0, kBridgesOf12, kTwoAndOne, 400, 32, "InfiniBand", "IB", "AuthenticAMD", 25,
     17, 0, 0,
     "NVIDIA H100 NVL product brief: 600 GB/s over bridges, 12 of 18 links; Lenovo's MLPerf 4.1 entry of 8 "
     "cards (SR675 V3): EPYC 9634"},
    {"l40s", "8 × L40S, no NVLink, 4 × 200 Gb/s RoCE", "NVIDIA L40S", 16, NvLinkWiring::none, 0, 0, kNoPairs,
     kTwoAndOne, 200, 16, "Ethernet", "RoCE", "GenuineIntel", 6, 207, 0, 0,
     "NVIDIA L40S data sheet: Gen4 x16, no NVLink; OVX reference: a NIC for two GPUs; HPE's MLPerf 4.1 entry "
     "(DL380a Gen11): Xeon 8580"},
    {"ndv4", "8 × A100 SXM, 8 × 200 Gb/s InfiniBand (Azure ND96asr_v4)", "NVIDIA A100-SXM4-40GB", 16,
     NvLinkWiring::switches, 12, 6, kNoPairs, kTwoAndTwoOn4, 200, 16, "InfiniBand", "IB", "AuthenticAMD", 23,
     49, 0, 0,
     "Azure ND A100 v4 page: 8 × 200 Gb/s, EPYC 7V12; Azure's NCCL topology file: two GPUs and two NICs a "
     "switch, 4 NUMA nodes"},
    {"ndv5", "8 × H100 SXM, 8 × 400 Gb/s InfiniBand (Azure ND96isr_H100_v5)", "NVIDIA H100 80GB HBM3", 32,
     NvLinkWiring::switches, 18, 4, kNoPairs, kOneAndOne, 400, 32, "InfiniBand", "IB", "GenuineIntel", 6, 143,
     0, 0, "Azure ND H100 v5 page: 8 × 400 Gb/s, Sapphire Rapids"},
    {"a3-ultra", "8 × H200 SXM, 8 × 400 Gb/s RoCE (Google a3-ultragpu-8g)", "NVIDIA H200", 32,
     NvLinkWiring::switches, 18, 4, kNoPairs, kOneAndOne, 400, 32, "Ethernet", "RoCE", "", 0, 0, 0, 0,
     "Google Cloud machine types: 3200 Gb/s over 8 × ConnectX-7"},
    {"alps", "4 × GH200, 4 × 200 Gb/s Slingshot 11 (CSCS Alps)", "NVIDIA GH200 120GB", 32,
     NvLinkWiring::pairs, 18, 0, kEachToEach, kFourSuperchips, 200, 16, "Ethernet", "CXI", "ARM", 0, 0, 450,
     0,
     "boeschf/nccl-benchmark-on-alps-2025: 4 GH200 and 4 Slingshot-11 NICs a node; NVIDIA's GH200 data "
     "sheet: NVLink-C2C 900 GB/s; 6 links to each of the others by the quad's 18"},
    {"polaris", "4 × A100 SXM wired to each other, 2 × 200 Gb/s Slingshot 11 (ALCF Polaris)",
     "NVIDIA A100-SXM4-40GB", 16, NvLinkWiring::pairs, 12, 0, kEachToEachBy4, kRootPorts, 200, 16, "Ethernet",
     "CXI", "AuthenticAMD", 25, 1, 0, 0,
     "ALCF's page of Polaris: one EPYC 7543P, 4 A100, 2 Slingshot-11 NICs; GPUs at 07, 46, 85 and c7 in "
     "argonne-lcf/alcf-nccl-tests"},
    {"hgx-b300", "8 × B300, 8 × 800 Gb/s InfiniBand", "NVIDIA B300 SXM6 AC", 64, NvLinkWiring::switches, 18,
     2, kNoPairs, kOneAndOne, 800, 64, "InfiniBand", "IB", "GenuineIntel", 6, 173, 0, 0,
     "NVIDIA DGX B300 user guide and HGX B300 data sheet: 1.8 TB/s of NVLink per GPU, 2 NVSwitches, 8 × "
     "ConnectX-8 on the GPUs' board; CPU of DGX B300 (2 × Xeon 6776P)"},
    {"gb300-nvl72", "4 × GB300 per tray, 72 in one NVLink domain, 4 × 800 Gb/s InfiniBand", "NVIDIA GB300",
     64, NvLinkWiring::switches, 18, 18, kNoPairs, kGraceTray, 800, 64, "InfiniBand", "IB", "ARM", 0, 0, 450,
     72,
     "NVIDIA GB300 NVL72 data sheet: 18 trays of 4 GPUs and 2 Grace CPUs, 18 NVLink switch chips, a "
     "ConnectX-8 of 800 Gb/s for each GPU"},
}};

struct Check {
  std::string_view machine;
  std::string_view against;
};

constexpr std::array<Check, 10> kChecks{{
    {"dgx-1v", "a topo -m in the tests of microsoft/msccl-tools"},
    {"hgx-a100", "OCI's NCCL topology of BM.GPU4.8 in oracle-quickstart/oci-hpc"},
    {"dgx-a100", "the GPU rows of a topo -m in NVIDIA/nccl#1505"},
    {"hgx-h100",
     "lspci -vvv of a Dell server in leptonai/gpud, and the NVLinks of a topo -m in NVIDIA/cutlass"},
    {"p4de", "AWS's NCCL topology of p4d, the same machine with other memory, in aws/aws-ofi-nccl"},
    {"oci-h100", "OCI's NCCL topologies in oracle-quickstart/oci-hpc and a topo -m in its oci-gpu-scanner"},
    {"hgx-b200", "a topo -m of Google's A4 in kubernetes-sigs/dranet"},
    {"gb200-nvl72",
     "the NVLinks of a topo -m in sgl-project/sglang#11208; that a GPU and a NIC share a PCIe switch is "
     "assumed: listings of such trays say SYS of all"},
    {"hgx-h800", "nvlink -s of three GPUs in liguodongiot/llm-action: their NVLinks alone"},
    {"ndv4", "Azure's NCCL topology in Azure/azhpc-images"},
}};

PcieLink full_link(double gigatransfers_per_second) { return {{gigatransfers_per_second}, {16}, {}}; }

/// Builds switch by switch; bus numbers only have to differ.
class Builder {
 public:
  explicit Builder(const ReferenceMachine& machine) : machine_(machine) {}

  Host build() {
    host_.sources.push_back(
        {std::string(kReferenceMachine), std::string(machine_.name), std::string(machine_.source)});
    host_.product.value = std::string(machine_.title);
    host_.notes.emplace_back(how_checked(machine_));
    add_numa_nodes();
    for (const ReferenceSwitch& group : machine_.switches) add_switch(group);
    add_nvlinks();
    if (machine_.nvlink_domain_gpus > 0) {
      host_.notes.emplace_back(
          fmt::format("NVLink connects {} GPUs, also those of other nodes", machine_.nvlink_domain_gpus));
    }
    return std::move(host_);
  }

 private:
  void add_numa_nodes() {
    std::set<int> indices;
    for (const ReferenceSwitch& group : machine_.switches) indices.insert(group.numa_node);
    for (const int index : indices) {
      NumaNode node;
      node.index = index;
      node.architecture.value = machine_.cpu_vendor == "ARM" ? "arm64" : "x86_64";
      if (!machine_.cpu_vendor.empty()) node.cpu_vendor.value = std::string(machine_.cpu_vendor);
      if (machine_.cpu_family > 0) {
        node.cpu_family.value = machine_.cpu_family;
        node.cpu_model.value = machine_.cpu_model;
      }
      host_.numa_nodes.push_back(node);
    }
  }

  PciDevice& add_pci(const std::string& parent, const char* class_code, double gigatransfers_per_second) {
    PciDevice device;
    device.address = fmt::format("0000:{:02x}:00.0", next_bus_++);
    device.parent = parent;
    device.class_code.value = class_code;
    device.link_max = full_link(gigatransfers_per_second);
    return host_.pci_devices.emplace_back(std::move(device));
  }

  void add_switch(const ReferenceSwitch& group) {
    PciDevice& bridge = add_pci("", "0x060400", machine_.gpu_gigatransfers);
    bridge.numa_node.value = group.numa_node;
    bridge.host_bridge.value = bridge.address.substr(0, 7);
    const std::string above = bridge.address;
    for (int i = 0; i < group.gpus; ++i) add_gpu(above);
    for (int i = 0; i < group.nics; ++i) add_nic(above);
  }

  void add_gpu(const std::string& above) {
    PciDevice& pci = add_pci(above, "0x030200", machine_.gpu_gigatransfers);
    pci.vendor.value = "0x10de";
    Gpu gpu;
    gpu.index.value = static_cast<int>(host_.gpus.size());
    gpu.pci_address.value = pci.address;
    gpu.model.value = std::string(machine_.gpu_model);
    if (const GpuModel* model = find_gpu_model(machine_.gpu_model)) gpu.sm.value = model->sm;
    gpu.nvlinks_active.value = machine_.nvlinks_per_gpu;
    gpu.gpudirect.value = !machine_.nic_transport.empty();
    if (machine_.c2c_gigabytes_per_second > 0) {
      gpu.c2c_links.value = 1;
      gpu.c2c_gigabytes_per_second.value = machine_.c2c_gigabytes_per_second;
    }
    host_.gpus.push_back(std::move(gpu));
  }

  void add_nic(const std::string& above) {
    const bool infiniband = machine_.nic_link_layer == "InfiniBand";
    const PciDevice& pci = add_pci(above, infiniband ? "0x020700" : "0x020000", machine_.nic_gigatransfers);
    Nic nic;
    nic.label.value = fmt::format("NIC{}", host_.nics.size());
    nic.pci_address.value = pci.address;
    nic.gpudirect.value = true;
    NicPort port;
    port.link_layer.value = std::string(machine_.nic_link_layer);
    port.gigabits_per_second.value = machine_.nic_gigabits;
    port.state.value = "ACTIVE";
    nic.ports.push_back(std::move(port));
    host_.nics.push_back(std::move(nic));
  }

  void add_link(const Device& a, const Device& b, int links) {
    host_.nvlinks.push_back({a, b, {links}, {}});
    if (b.kind == DeviceKind::gpu) host_.nvlinks.push_back({b, a, {links}, {}});
  }

  void add_nvlinks() {
    for (const ReferencePair& pair : machine_.pairs) {
      add_link({DeviceKind::gpu, pair.a}, {DeviceKind::gpu, pair.b}, pair.links);
    }
    if (machine_.wiring != NvLinkWiring::switches) return;
    for (int i = 0; i < machine_.nvswitches; ++i) {
      host_.nvswitches.emplace_back().pci_address.value = fmt::format("0000:{:02x}:00.0", next_bus_++);
    }
    for (int gpu = 0; gpu < static_cast<int>(host_.gpus.size()); ++gpu) {
      for (int i = 0; i < machine_.nvswitches; ++i) {
        // As even as it goes: 18 links over 4 switches are 5, 5, 4, 4.
        const int links = machine_.nvlinks_per_gpu / machine_.nvswitches +
                          (i < machine_.nvlinks_per_gpu % machine_.nvswitches ? 1 : 0);
        add_link({DeviceKind::gpu, gpu}, {DeviceKind::nvswitch, i}, links);
      }
    }
  }

  const ReferenceMachine& machine_;
  Host host_;
  int next_bus_ = 1;
};

}  // namespace

std::string_view checked_against(const ReferenceMachine& machine) {
  const auto* const found = std::ranges::find(kChecks, machine.name, &Check::machine);
  return found == kChecks.end() ? std::string_view() : found->against;
}

std::string how_checked(const ReferenceMachine& machine) {
  const std::string_view against = checked_against(machine);
  if (against.empty()) return "not checked against a published file of such a machine";
  return fmt::format("checked against {}", against);
}

std::span<const ReferenceMachine> reference_machines() { return kMachines; }

const ReferenceMachine* find_reference_machine(std::string_view name) {
  const auto all = reference_machines();
  const auto found = std::ranges::find(all, name, &ReferenceMachine::name);
  return found == all.end() ? nullptr : &*found;
}

Host reference_host(const ReferenceMachine& machine) { return Builder(machine).build(); }

}  // namespace collbench::topology
