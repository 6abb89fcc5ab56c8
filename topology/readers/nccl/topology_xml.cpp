#include "topology/readers/nccl/topology_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text_input.hpp"
#include "base/xml_input.hpp"
#include "topology/graph/cpu_list.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

/// The position of the device at `address` in `devices`; one that is not there is added.
template <class Item>
int find_or_add(std::vector<Item>& devices, const std::optional<std::string>& address) {
  const auto known = std::ranges::find_if(
      devices, [&address](const Item& device) { return device.pci_address.value == address; });
  const auto index = static_cast<int>(known - devices.begin());
  if (known == devices.end()) devices.emplace_back().pci_address.value = address;
  return index;
}

bool is_gpu_at(const Host& host, const std::string& address) {
  return std::ranges::any_of(host.gpus,
                             [&address](const Gpu& gpu) { return gpu.pci_address.value == address; });
}

std::optional<Device> target_of(const WrittenNvLink& link, Host& host) {
  const PciRole role = link.target ? pci_role(link.target_class, "0x10de") : PciRole::nvswitch;
  const bool known = link.target && is_gpu_at(host, *link.target);
  if (known || role == PciRole::gpu) return Device{DeviceKind::gpu, find_or_add(host.gpus, link.target)};
  if (role == PciRole::nvswitch)
    return Device{DeviceKind::nvswitch, find_or_add(host.nvswitches, link.target)};
  return std::nullopt;
}

std::optional<std::string> known_to_nccl(pugi::xml_node node, const char* name) {
  auto text = XmlInput::text_of(node, name);
  if (text == kUnknownToNccl) text.reset();
  return text;
}

constexpr int kMaxMegabits = 6'400'000;  // four times the fastest port of 2026; some dumps are in other units

/// Walks the file and fills one host.
class DumpReader {
 public:
  DumpReader(const XmlInput& xml, std::string_view file) : xml_(xml) {
    host_.sources.push_back(kNcclTopologyReader.source(file));
  }

  Host read() {
    for (const pugi::xml_node node : xml_.root().children()) {
      if (node.name() == std::string_view("cpu")) {
        read_cpu(node);
      } else {
        skip(node);
      }
    }
    add_nvlinks(links_, host_);
    for (const auto& [name, count] : skipped_) {
      host_.notes.emplace_back(fmt::format("{} <{}> ignored: unknown to this reader", count, name));
    }
    if (host_.pci_devices.empty() && host_.nics.empty())
      throw xml_.error(xml_.root(), "it describes no device");
    return std::move(host_);
  }

 private:
  void skip(pugi::xml_node node) {
    if (node.type() == pugi::node_element) ++skipped_[excerpt(node.name(), 20)];
  }

  [[nodiscard]] std::optional<int> known_integer(pugi::xml_node node, const char* attribute) const {
    const auto value = xml_.integer(node, attribute, kNotKnownToNccl, kMaxXmlInteger);
    return value == kNotKnownToNccl ? std::nullopt : value;
  }

  void read_cpu(pugi::xml_node node) {
    NumaNode numa;
    numa.index =
        xml_.integer(node, "numaid", -1, kMaxXmlInteger).value_or(static_cast<int>(host_.numa_nodes.size()));
    if (const auto mask = XmlInput::text_of(node, "affinity"); mask && !mask->empty()) {
      const auto cpus = parse_cpu_mask(*mask);
      if (!cpus) throw xml_.error(node, fmt::format("affinity=\"{}\" is not a CPU mask", excerpt(*mask)));
      if (!cpus->empty()) numa.cpus.value = format_cpu_list(*cpus);
    }
    numa.architecture.value = known_to_nccl(node, "arch");
    numa.cpu_vendor.value = known_to_nccl(node, "vendor");
    numa.cpu_family.value = known_integer(node, "familyid");
    numa.cpu_model.value = known_integer(node, "modelid");
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
    device.address = pci_address(xml_, node, "busid");
    if (find_pci_device(host_, device.address) != nullptr) {
      throw xml_.error(node, fmt::format("busid {} is listed twice", device.address));
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
    gpu.nccl_rank.value = known_integer(node, "rank");
    if (const auto gdr = xml_.integer(node, "gdr", -1, 9)) gpu.gpudirect.value = *gdr > 0;
    const Device self{DeviceKind::gpu, static_cast<int>(host_.gpus.size())};
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "nvlink") {
        const bool hidden = is_hidden_nvswitch(XmlInput::text_of(child, "target").value_or(""));
        links_.push_back({self,
                          hidden ? std::nullopt : std::optional(pci_address(xml_, child, "target")),
                          XmlInput::text_of(child, "tclass").value_or(""),
                          {xml_.integer(child, "count", 0, 64)},
                          xml_.where(child)});
      } else if (name == "c2c") {
        gpu.c2c_links.value = xml_.integer(child, "count", 0, 64);
        // NVML's MB/s of one link (2.30 src/graph/topo.cc multiplies by the count and divides by 1000).
        const auto megabytes = xml_.integer(child, "bw", 0, kMaxXmlInteger);
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
    nic.nccl_net.value = xml_.integer(node, "dev", 0, kMaxXmlInteger);
    port.number = xml_.integer(node, "port", 0, 255).value_or(1);
    const std::optional<int> speed = xml_.integer(node, "speed", -1, kMaxXmlInteger);
    const int megabits = speed.value_or(0);
    if (speed && *speed <= 0) {
      host_.notes.emplace_back(
          fmt::format("{}: a speed of {} Mb/s is none: taken as not known", xml_.where(node), *speed));
    } else if (megabits > kMaxMegabits) {
      host_.notes.emplace_back(
          fmt::format("{}: a speed of {} Mb/s is implausible; ignored", xml_.where(node), megabits));
    } else if (megabits > 0) {
      port.gigabits_per_second.value = megabits / 1000.0;
    }
    nic.ports.push_back(port);
    host_.nics.push_back(std::move(nic));
  }

  const XmlInput& xml_;
  Host host_;
  int numa_ = 0;
  std::vector<WrittenNvLink> links_;
  std::map<std::string, int> skipped_;
};

bool is_nccl_topology(const ReaderInput& input) {
  return input.xml && input.text.find("<system") != std::string_view::npos;
}

}  // namespace

bool is_hidden_nvswitch(std::string_view target) {
  constexpr std::size_t kDomain =
      7;  // f's: shorter domains are those of virtual switches in providers' files
  const std::string ones = lower(target.substr(0, target.find('.')));
  return ones.find(':') != std::string::npos && ones.find_first_not_of('f') >= kDomain &&
         ones.find_first_not_of("f:") == std::string::npos;
}

void add_nvlinks(const std::vector<WrittenNvLink>& links, Host& host) {
  for (const WrittenNvLink& link : links) {
    const auto to = target_of(link, host);
    if (!to) {
      host.notes.emplace_back(fmt::format(
          "{}: an NVLink leads to {} of class '{}', which is neither a GPU nor an NVSwitch; ignored",
          link.where, *link.target, excerpt(link.target_class)));
      continue;
    }
    if (to == link.from)
      host.notes.emplace_back(
          fmt::format("{}: an NVLink of {} loops back to itself", link.where, *link.target));
    host.nvlinks.push_back({link.from, *to, link.count, {}});
  }
}

Host read_nccl_topology_xml(std::string_view text, std::string_view file) {
  const XmlInput xml(text, file, "system", "an NCCL topology XML");
  return DumpReader(xml, file).read();
}

constexpr TopologyReader kNcclTopologyReader{
    .name = "NCCL topology XML",
    .coverage = {.gpus = true, .nics = true, .nvswitches = false},
    .recognizes = is_nccl_topology,
    .read = read_nccl_topology_xml,
};

}  // namespace collbench::topology
