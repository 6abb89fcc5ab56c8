#include "topology/nccl_topology_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "topology/cpu_list.hpp"
#include "topology/guid.hpp"
#include "topology/lookup.hpp"
#include "topology/pci_address.hpp"
#include "topology/pci_class.hpp"
#include "topology/text_input.hpp"
#include "topology/xml_input.hpp"

namespace collbench {
namespace {

constexpr int kAnyInt = 1 << 30;
constexpr int kMostMegabits =
    6'400'000;  // four times the fastest port of 2026; some dumps are in other units

/// What NCCL takes for the address of an NVSwitch that a VM does not show (2.30 src/graph/xml.cc).
constexpr std::string_view kHiddenSwitch = "fffffff:ffff:ff";

/// An NVLink as written: the other end is an address that may stand further down the file.
struct PendingLink {
  Device from;
  std::optional<std::string> target;  ///< none: an NVSwitch that is hidden
  std::string target_class;
  Fact<int> count;
  pugi::xml_node node;
};

/// Walks the file and fills one host.
class DumpReader {
 public:
  DumpReader(const XmlInput& xml, std::string_view file) : xml_(xml) {
    host_.sources.push_back({"NCCL topology XML", std::string(file), ""});
  }

  Host read() {
    for (const pugi::xml_node node : xml_.root().children()) {
      if (node.name() == std::string_view("cpu")) {
        read_cpu(node);
      } else {
        skip(node);
      }
    }
    for (const PendingLink& link : links_) add_link(link);
    for (const auto& [name, count] : skipped_) {
      host_.notes.push_back(fmt::format("{} <{}> left out: not known to this reader", count, name));
    }
    if (host_.pci_devices.empty() && host_.nics.empty())
      throw xml_.error(xml_.root(), "there is no device in it");
    return std::move(host_);
  }

 private:
  void skip(pugi::xml_node node) {
    if (node.type() == pugi::node_element) ++skipped_[excerpt(node.name(), 20)];
  }

  void read_cpu(pugi::xml_node node) {
    NumaNode numa;
    numa.index =
        xml_.integer(node, "numaid", -1, kAnyInt).value_or(static_cast<int>(host_.numa_nodes.size()));
    if (const auto mask = XmlInput::text_of(node, "affinity"); mask && !mask->empty()) {
      const auto cpus = parse_cpu_mask(*mask);
      if (!cpus) throw xml_.error(node, fmt::format("affinity=\"{}\" is no CPU mask", excerpt(*mask)));
      numa.cpus.value = format_cpu_list(*cpus);
    }
    numa.architecture.value = XmlInput::text_of(node, "arch");
    numa.cpu_vendor.value = XmlInput::text_of(node, "vendor");
    numa.cpu_family.value = xml_.integer(node, "familyid", -1, kAnyInt);
    numa.cpu_model.value = xml_.integer(node, "modelid", -1, kAnyInt);
    host_.numa_nodes.push_back(numa);
    numa_ = numa.index;
    read_below(node, "");
  }

  /// The children of a <cpu> or of the <pci> at `parent`.
  void read_below(pugi::xml_node node, const std::string& parent) {
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "pci") {
        read_pci(child, parent);
      } else if (name == "nic") {
        for (const pugi::xml_node net : child.children("net")) read_net(net, parent);
      } else if (name == "gpu" && !parent.empty()) {
        read_gpu(child, parent);
      } else {
        skip(child);
      }
    }
  }

  void read_pci(pugi::xml_node node, const std::string& parent) {
    PciDevice device;
    device.address = xml_.pci_address(node, "busid");
    if (find_pci_device(host_, device.address) != nullptr) {
      throw xml_.error(node, fmt::format("busid {} stands in the file twice", device.address));
    }
    device.parent = parent;
    if (parent.empty()) device.numa_node.value = numa_;
    device.class_code.value = XmlInput::text_of(node, "class");
    device.vendor.value = XmlInput::text_of(node, "vendor");
    device.device.value = XmlInput::text_of(node, "device");
    device.subsystem_vendor.value = XmlInput::text_of(node, "subsystem_vendor");
    device.subsystem_device.value = XmlInput::text_of(node, "subsystem_device");
    // NCCL writes max_link_speed and max_link_width of sysfs, the lesser of both ends (2.30
    // src/graph/xml.cc).
    // "" and 0 mean not known.
    device.link_max.gigatransfers_per_second.value =
        leading_number(XmlInput::text_of(node, "link_speed").value_or(""));
    const auto width = xml_.integer(node, "link_width", 0, 64);
    if (width.value_or(0) > 0) device.link_max.width.value = width;
    host_.pci_devices.push_back(device);
    read_below(node, device.address);
    add_unnamed_device(node, device);
  }

  /// Providers' files have the PCI function of a GPU or a NIC, and no element of its own in it.
  void add_unnamed_device(pugi::xml_node node, const PciDevice& device) {
    if (node.child("gpu") || node.child("nic")) return;
    const PciRole role = pci_role(device.class_code.value_or(""), device.vendor.value_or(""));
    if (role == PciRole::gpu) host_.gpus.emplace_back().pci_address.value = device.address;
    if (role == PciRole::nic) host_.nics.emplace_back().pci_address.value = device.address;
  }

  void read_gpu(pugi::xml_node node, const std::string& address) {
    Gpu gpu;
    gpu.pci_address.value = address;
    gpu.index.value = xml_.integer(node, "dev", 0, 9999);  // NCCL's dev is NVML's index
    gpu.sm.value = xml_.integer(node, "sm", 0, 9999);
    gpu.nccl_rank.value = xml_.integer(node, "rank", -1, kAnyInt);
    if (const auto gdr = xml_.integer(node, "gdr", -1, 9)) gpu.gpudirect.value = *gdr > 0;
    const Device self{DeviceKind::gpu, static_cast<int>(host_.gpus.size())};
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "nvlink") {
        const bool hidden = XmlInput::text_of(child, "target") == kHiddenSwitch;
        links_.push_back({self,
                          hidden ? std::nullopt : std::optional(xml_.pci_address(child, "target")),
                          XmlInput::text_of(child, "tclass").value_or(""),
                          {xml_.integer(child, "count", 0, 64)},
                          child});
      } else if (name == "c2c") {
        gpu.c2c_links.value = xml_.integer(child, "count", 0, 64);
        // NVML's MB/s of one link (2.30 src/graph/topo.cc multiplies by the count and divides by 1000).
        const auto megabytes = xml_.integer(child, "bw", 0, kAnyInt);
        if (megabytes) gpu.c2c_gigabytes_per_second.value = *megabytes * gpu.c2c_links.value_or(1) / 1000.0;
      } else {
        skip(child);
      }
    }
    host_.gpus.push_back(std::move(gpu));
  }

  void read_net(pugi::xml_node node, const std::string& address) {
    Nic nic;
    NicPort port;
    nic.name.value = XmlInput::text_of(node, "name");
    if (!address.empty()) nic.pci_address.value = address;
    if (address.empty()) nic.numa_node.value = numa_;
    nic.system_guid.value = swap_guid(XmlInput::text_of(node, "guid").value_or(""));
    if (const auto gdr = xml_.integer(node, "gdr", -1, 9)) nic.gpudirect.value = *gdr > 0;
    port.number = xml_.integer(node, "port", 0, 255).value_or(1);
    const int megabits = xml_.integer(node, "speed", -1, kAnyInt).value_or(0);
    if (megabits > kMostMegabits) {
      host_.notes.push_back(
          fmt::format("{}: a speed of {} Mb/s is not believable; left out", xml_.where(node), megabits));
    } else if (megabits > 0) {
      port.gigabits_per_second.value = megabits / 1000.0;
    }
    nic.ports.push_back(port);
    host_.nics.push_back(std::move(nic));
  }

  void add_link(const PendingLink& link) {
    const auto to = link_target(link);
    if (to == link.from) {
      host_.notes.push_back(
          fmt::format("{}: an NVLink of {} leads to itself", xml_.where(link.node), *link.target));
    }
    if (to) {
      host_.nvlinks.push_back({link.from, *to, link.count, {}});
    } else {
      host_.notes.push_back(
          fmt::format("{}: an NVLink leads to {} of class '{}', neither GPU nor NVSwitch; left out",
                      xml_.where(link.node), *link.target, excerpt(link.target_class)));
    }
  }

  std::optional<Device> link_target(const PendingLink& link) {
    const auto same = [&link](const auto& device) { return device.pci_address.value == link.target; };
    const auto gpu =
        link.target ? std::find_if(host_.gpus.begin(), host_.gpus.end(), same) : host_.gpus.end();
    if (gpu != host_.gpus.end()) return Device{DeviceKind::gpu, static_cast<int>(gpu - host_.gpus.begin())};
    const PciRole role = link.target ? pci_role(link.target_class, "0x10de") : PciRole::nvswitch;
    if (role == PciRole::gpu) {
      // A dump holds only the GPUs of the communicator; a link may lead to one outside it.
      host_.gpus.emplace_back().pci_address.value = link.target;
      return Device{DeviceKind::gpu, static_cast<int>(host_.gpus.size()) - 1};
    }
    if (role != PciRole::nvswitch) return std::nullopt;
    const auto known = std::find_if(host_.nvswitches.begin(), host_.nvswitches.end(), same);
    if (known != host_.nvswitches.end()) {
      return Device{DeviceKind::nvswitch, static_cast<int>(known - host_.nvswitches.begin())};
    }
    host_.nvswitches.emplace_back().pci_address.value = link.target;
    return Device{DeviceKind::nvswitch, static_cast<int>(host_.nvswitches.size()) - 1};
  }

  const XmlInput& xml_;
  Host host_;
  int numa_ = 0;
  std::vector<PendingLink> links_;
  std::map<std::string, int> skipped_;
};

/// Sets the attribute when the fact is known.
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
      if (numa.cpus.known()) {
        cpu.append_attribute("affinity") =
            format_cpu_mask(parse_cpu_list(*numa.cpus.value).value_or(std::vector<int>{})).c_str();
      }
      set(cpu, "arch", numa.architecture);
      set(cpu, "vendor", numa.cpu_vendor);
      set(cpu, "familyid", numa.cpu_family);
      set(cpu, "modelid", numa.cpu_model);
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
      if (!(bundle.from == Device{DeviceKind::gpu, index})) continue;
      pugi::xml_node link = node.append_child("nvlink");
      link.append_attribute("target") =
          pci_address_of(host_, bundle.to).value_or(std::string(kHiddenSwitch)).c_str();
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
        pugi::xml_node net = nics.append_child("net");
        set(net, "name", nic.name);
        net.append_attribute("dev") = static_cast<int>(i);
        net.append_attribute("latency") = "0";
        if (port.gigabits_per_second.known()) {
          net.append_attribute("speed") = static_cast<int>(*port.gigabits_per_second.value * 1000 + 0.5);
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

Host read_nccl_topology_xml(std::string_view text, std::string_view file) {
  const XmlInput xml(text, file, "system", "an NCCL topology XML");
  return DumpReader(xml, file).read();
}

std::string write_nccl_topology_xml(const Host& host) { return DumpWriter(host).write(); }

}  // namespace collbench
