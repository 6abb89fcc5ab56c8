// reference_host() of reference_machines.hpp: from the table's row to a graph.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "topology/gpu_catalogue.hpp"
#include "topology/reference_machines.hpp"

namespace collbench {
namespace {

PcieLink full_link(double gigatransfers_per_second) { return {{gigatransfers_per_second}, {16}, {}}; }

/// Builds switch by switch; bus numbers only have to differ.
class Builder {
 public:
  explicit Builder(const ReferenceMachine& machine) : machine_(machine) {}

  Host build() {
    host_.sources.push_back({"reference machine", std::string(machine_.name), std::string(machine_.source)});
    host_.product.value = std::string(machine_.title);
    add_numa_nodes();
    for (const ReferenceSwitch& group : machine_.switches) add_switch(group);
    add_nvlinks();
    if (machine_.nvlink_domain_gpus > 0) {
      host_.notes.push_back(
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

Host reference_host(const ReferenceMachine& machine) { return Builder(machine).build(); }

}  // namespace collbench
