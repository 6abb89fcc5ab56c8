#include "topology/render/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <pugixml.hpp>
#include <sstream>
#include <vector>

#include "topology/graph/cpu_list.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/port_state.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

template <class T>
void set(pugi::xml_node node, const char* name, const Fact<T>& fact) {
  if (!fact.known()) return;
  if constexpr (std::same_as<T, std::string>) {
    node.append_attribute(name) = fact.value->c_str();
  } else {
    node.append_attribute(name) = *fact.value;
  }
}

class DumpWriter {
 public:
  explicit DumpWriter(const Host& host) : host_(host) {}

  std::string write() {
    pugi::xml_node system = document_.append_child("system");
    system.append_attribute("version") = 1;
    for (const NumaNode& numa : host_.numa_nodes) {
      pugi::xml_node cpu = system.append_child("cpu");
      cpu.append_attribute("numaid") = numa.index;
      // Without it every rank fills it in for its own CPU, and where files are put together two <cpu> that
      // differ in it are two CPUs (src/graph/xml.cc, xmlFindNode): the search then sees a part of the
      // machine. No CPU means none is preferred.
      cpu.append_attribute("affinity") =
          format_cpu_mask(parse_cpu_list(numa.cpus.value_or("")).value_or(std::vector<int>{})).c_str();
      // NCCL refuses a CPU without these (2.30 src/graph/topo.cc, ncclTopoAddCpu), and takes a word that it
      // does not know for none.
      cpu.append_attribute("arch") = numa.architecture.value_or(std::string(kUnknownToNccl)).c_str();
      cpu.append_attribute("vendor") = numa.cpu_vendor.value_or(std::string(kUnknownToNccl)).c_str();
      // As for the affinity: what is missing every rank fills in, some before and some after they compare.
      // The price: an Intel CPU of no known model is an old one to NCCL, with a slow way to the other socket.
      cpu.append_attribute("familyid") = numa.cpu_family.value_or(kNotKnownToNccl);
      cpu.append_attribute("modelid") = numa.cpu_model.value_or(kNotKnownToNccl);
      for (const PciDevice& device : host_.pci_devices) {
        if (device.parent.empty() && device.numa_node.value == numa.index) write_pci(device, cpu);
      }
      write_nics(cpu, [&numa](const Nic& nic) {
        return !nic.pci_address.known() && nic.numa_node.value == numa.index;
      });
    }
    std::ostringstream out;
    document_.save(out, "  ", pugi::format_default | pugi::format_no_declaration);
    return out.str();
  }

 private:
  void write_pci(const PciDevice& device, pugi::xml_node parent) {
    pugi::xml_node pci = parent.append_child("pci");
    pci.append_attribute("busid") = device.address.c_str();
    set(pci, "class", device.class_code);
    set(pci, "vendor", device.vendor);
    set(pci, "device", device.device);
    set(pci, "subsystem_vendor", device.subsystem_vendor);
    set(pci, "subsystem_device", device.subsystem_device);
    const auto rate = device.link_max.gigatransfers_per_second.value;
    pci.append_attribute("link_speed") = rate ? fmt::format("{:.1f} GT/s PCIe", *rate).c_str() : "";
    pci.append_attribute("link_width") = device.link_max.width.value_or(0);
    for (const PciDevice& child : host_.pci_devices) {
      if (child.parent == device.address) write_pci(child, pci);
    }
    for (std::size_t i = 0; i < host_.gpus.size(); ++i) {
      if (host_.gpus[i].pci_address.value == device.address) write_gpu(static_cast<int>(i), pci);
    }
    write_nics(pci, [&device](const Nic& nic) { return nic.pci_address.value == device.address; });
  }

  void write_gpu(int index, pugi::xml_node pci) {
    const Gpu& gpu = host_.gpus[static_cast<std::size_t>(index)];
    // Without any of these facts the function itself says that it is a GPU, as providers' files do.
    if (!gpu.index.known() && !gpu.sm.known()) return;
    pugi::xml_node node = pci.append_child("gpu");
    set(node, "dev", gpu.index);
    set(node, "sm", gpu.sm);
    set(node, "rank", gpu.nccl_rank);
    if (gpu.gpudirect.known()) node.append_attribute("gdr") = *gpu.gpudirect.value ? 1 : 0;
    for (const NvLinkBundle& bundle : host_.nvlinks) {
      if (!(bundle.from == Device{DeviceKind::gpu, index}) || !bundle.count.known()) continue;
      pugi::xml_node link = node.append_child("nvlink");
      link.append_attribute("target") =
          pci_address_of(host_, bundle.to).value_or(std::string(kHiddenNvSwitch)).c_str();
      set(link, "count", bundle.count);
      link.append_attribute("tclass") = bundle.to.kind == DeviceKind::nvswitch ? "0x068000" : "0x030200";
    }
    if (gpu.c2c_links.known()) {
      pugi::xml_node c2c = node.append_child("c2c");
      const double total = gpu.c2c_gigabytes_per_second.value_or(0) * 1000;
      c2c.append_attribute("bw") = static_cast<int>(total / std::max(1, *gpu.c2c_links.value));
      c2c.append_attribute("count") = *gpu.c2c_links.value;
    }
  }

  template <class Belongs>
  void write_nics(pugi::xml_node parent, Belongs belongs) {
    pugi::xml_node nics;
    for (std::size_t i = 0; i < host_.nics.size(); ++i) {
      const Nic& nic = host_.nics[i];
      if (!belongs(nic) || nic.ports.empty()) continue;
      if (!nics) nics = parent.append_child("nic");
      for (const NicPort& port : nic.ports) {
        if (!may_carry_traffic(port)) continue;  // NCCL lists active ports only
        pugi::xml_node net = nics.append_child("net");
        set(net, "name", nic.name);
        net.append_attribute("dev") = nic.nccl_net.value_or(static_cast<int>(i));
        net.append_attribute("latency") = "0";
        if (port.gigabits_per_second.known()) {
          net.append_attribute("speed") =
              static_cast<int>(std::lround(*port.gigabits_per_second.value * 1000));
        }
        net.append_attribute("port") = port.number;
        set(net, "guid", Fact<std::string>{swap_guid(nic.system_guid.value_or(""))});
        if (nic.gpudirect.known()) net.append_attribute("gdr") = *nic.gpudirect.value ? 1 : 0;
      }
    }
  }

  const Host& host_;
  pugi::xml_document document_;
};

}  // namespace

std::string write_nccl_topology_xml(const Host& host) {
  const Host shown = with_one_line_texts(host);
  return DumpWriter(shown).write();
}

}  // namespace collbench::topology
