#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "base/xml_input.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/graph/cpu_list.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

/// Where an object of hwloc's tree is: at a PCI function, or (address empty) at a NUMA node.
struct HwlocObject {
  std::string pci_address;
  int numa_node = -1;
};

/// By type and gp_index: "OSDev:894".
using HwlocObjects = std::map<std::string, HwlocObject>;

/// The blank-separated words of all children of that name: hwloc splits long lists over several elements.
std::vector<std::string> split_all(pugi::xml_node matrix, const char* name) {
  std::vector<std::string> words;
  for (const pugi::xml_node child : matrix.children(name)) {
    for (std::string& word : split_words(child.child_value())) words.push_back(std::move(word));
  }
  return words;
}

template <class T>
std::optional<int> index_at(const std::vector<T>& devices, const std::string& address) {
  const auto found = std::ranges::find_if(
      devices, [&address](const T& device) { return device.pci_address.value == address; });
  if (found == devices.end()) return std::nullopt;
  return static_cast<int>(found - devices.begin());
}

std::optional<Device> device_of(const HwlocObject& object, const Host& host) {
  if (object.pci_address.empty()) {
    for (std::size_t i = 0; i < host.numa_nodes.size(); ++i) {
      if (host.numa_nodes[i].index == object.numa_node)
        return Device{DeviceKind::numa_node, static_cast<int>(i)};
    }
    return std::nullopt;
  }
  if (const auto gpu = index_at(host.gpus, object.pci_address)) return Device{DeviceKind::gpu, *gpu};
  if (const auto nvswitch = index_at(host.nvswitches, object.pci_address)) {
    return Device{DeviceKind::nvswitch, *nvswitch};
  }
  return std::nullopt;
}

NvLinkBundle bundle(const Device& from, const Device& to, std::int64_t megabytes_per_second,
                    const Host& host) {
  NvLinkBundle result{from, to, {}, {}};
  result.gigabytes_per_second.value = static_cast<double>(megabytes_per_second) / 1000;
  const Device& gpu = from.kind == DeviceKind::gpu ? from : to;
  if (gpu.kind != DeviceKind::gpu) return result;
  const GpuModel* model = find_gpu_model(host.gpus[static_cast<std::size_t>(gpu.index)].model.value_or(""));
  if (model == nullptr || model->nvlink_gigabytes_per_second <= 0) return result;
  const double links = *result.gigabytes_per_second.value / model->nvlink_gigabytes_per_second;
  if (std::fabs(links - std::round(links)) < 0.1) result.count.value = static_cast<int>(std::lround(links));
  return result;
}

/// Adds the links of hwloc's matrix NVLinkBandwidth (versions 2 and 3) to `host`. Its values are MB/s; the
/// number of links follows from the model's data sheet, where the model is known. Throws Error (usage) with
/// FILE:LINE when the matrix is not whole.
void add_hwloc_nvlinks(const XmlInput& xml, const HwlocObjects& objects, Host& host) {
  for (const pugi::xml_node matrix : xml.root().children()) {
    if (matrix.attribute("name").value() != std::string_view("NVLinkBandwidth")) continue;
    // distances2 names the objects by number and has their type once; distances2hetero has it at each.
    const std::string type = matrix.attribute("type").value();
    std::vector<std::string> names = split_all(matrix, "indexes");
    const std::vector<std::string> values = split_all(matrix, "u64values");
    const std::size_t size = names.size();
    if (values.size() != size * size) {
      throw xml.error(matrix, fmt::format("NVLinkBandwidth has {} objects and {} values instead of {}", size,
                                          values.size(), size * size));
    }
    for (std::size_t i = 0; i < size * size; ++i) {
      const auto name = [&](std::size_t k) { return type.empty() ? names[k] : type + ":" + names[k]; };
      const auto from = objects.find(name(i / size));
      const auto to = objects.find(name(i % size));
      const auto megabytes = parse_integer(values[i], 0, 100'000'000);
      if (from == objects.end() || to == objects.end() || !megabytes) {
        throw xml.error(matrix, fmt::format("NVLinkBandwidth: '{}' between {} and {} is not a valid entry",
                                            excerpt(values[i]), name(i / size), name(i % size)));
      }
      if (*megabytes == 0 || i / size == i % size) continue;  // the diagonal holds a large number
      const auto a = device_of(from->second, host);
      const auto b = device_of(to->second, host);
      if (a && b) host.nvlinks.push_back(bundle(*a, *b, *megabytes, host));
    }
  }
}

using Infos = std::map<std::string, std::string>;

/// What an object of the tree stands in.
struct ObjectContext {
  std::string bridge;       ///< address of the PCI bridge above; empty at the root
  std::string host_bridge;  ///< "0000:2b"
  std::string pci;          ///< address of the function that an OS device belongs to
  std::optional<int> numa_node;
  std::optional<int> package;
  Infos package_infos;  ///< CPUVendor, CPUModel, …
};

Infos infos_of(pugi::xml_node object) {
  Infos infos;
  for (const pugi::xml_node info : object.children("info")) {
    infos[info.attribute("name").value()] = std::string(trim(info.attribute("value").value()));
  }
  return infos;
}

std::optional<std::string> info(const Infos& infos, const char* name) {
  const auto found = infos.find(name);
  if (found == infos.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::string type_of(pugi::xml_node object) { return object.attribute("type").value(); }

/// "0302 [10de:2330] [10de:16c1] a1": class, vendor, device, subsystem. False where it is something else.
bool read_pci_type(std::string_view text, PciDevice& device) {
  constexpr std::string_view kShape = "hhhh [hhhh:hhhh] [hhhh:hhhh]";
  const auto fits = [](char shape, char c) {
    return shape == 'h' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == shape;
  };
  if (text.size() < kShape.size() || !std::equal(kShape.begin(), kShape.end(), text.begin(), fits))
    return false;
  const auto digits = [&](std::size_t at) { return "0x" + lower(text.substr(at, 4)); };
  device.class_code.value = digits(0) + "00";
  device.vendor.value = digits(6);
  device.device.value = digits(11);
  device.subsystem_vendor.value = digits(18);
  device.subsystem_device.value = digits(23);
  return true;
}

class TreeReader {
 public:
  TreeReader(const XmlInput& xml, std::string_view file) : xml_(xml) {
    host_.sources.push_back(kHwlocXmlReader.source(file));
  }

  Host read() {
    const pugi::xml_node machine = xml_.root().child("object");
    if (!machine) throw xml_.error(xml_.root(), "it has no object");
    const Infos infos = infos_of(machine);
    Infos all = infos;
    for (const auto& [name, value] : infos_of(xml_.root()))
      all.emplace(name, value);  // where version 3 has them
    host_.name.value = info(all, "HostName");
    if (host_.name.known() && !is_host_name(*host_.name.value)) {
      host_.notes.emplace_back(
          fmt::format("its HostName '{}' is not the name of a host", excerpt(*host_.name.value)));
      host_.name.value.reset();
    }
    host_.product.value = info(all, "DMIProductName");
    if (!host_.product.known()) host_.product.value = info(all, "PlatformModel");
    host_.sources[0].version = info(all, "hwlocVersion").value_or("");
    architecture_ = info(all, "Architecture");
    if (architecture_ == "aarch64") architecture_ = "arm64";  // as NCCL writes it, so that the two agree
    read_object(machine, {});
    if (host_.numa_nodes.empty()) add_only_numa_node(machine);
    // As nvidia-smi counts them; the tree has them by socket and bridge.
    std::ranges::sort(host_.gpus,
                      [](const Gpu& a, const Gpu& b) { return a.pci_address.value < b.pci_address.value; });
    add_hwloc_nvlinks(xml_, objects_, host_);
    drop_idle_bridges(host_);
    return std::move(host_);
  }

 private:
  void read_object(pugi::xml_node object, ObjectContext here) {
    const std::string type = type_of(object);
    if (type == "Package" || type == "Socket") {
      here.package = xml_.integer(object, "os_index", -1, 1 << 30);
      here.package_infos = infos_of(object);
      if (here.numa_node && !host_.numa_nodes.empty()) describe_cpu(here, host_.numa_nodes.back());  // 1.x
    }
    enter_numa_node(object, type, here);
    if (here.numa_node) objects_[type + ":" + object.attribute("gp_index").value()] = {"", *here.numa_node};
    if (type == "Bridge") enter_bridge(object, here);
    if (type == "PCIDev") read_pci_device(object, here);
    if (type == "OSDev") read_os_device(object, here);
    for (const pugi::xml_node child : object.children("object")) read_object(child, here);
  }

  /// In 1.x a NUMA node contains what is near to it; from 2.0 on it is a memory child beside it.
  void enter_numa_node(pugi::xml_node object, const std::string& type, ObjectContext& here) {
    if (type == "NUMANode") {
      add_numa_node(object, here);
      here.numa_node = host_.numa_nodes.back().index;
      return;
    }
    std::optional<int> only;
    int nodes = 0;
    for (const pugi::xml_node child : object.children("object")) {
      if (type_of(child) != "NUMANode" || child.child("object")) continue;
      ++nodes;
      only = xml_.integer(child, "os_index", 0, 1 << 30);
    }
    if (nodes == 1) here.numa_node = only;
  }

  void add_numa_node(pugi::xml_node object, const ObjectContext& here) {
    NumaNode node;
    node.index =
        xml_.integer(object, "os_index", 0, 1 << 30).value_or(static_cast<int>(host_.numa_nodes.size()));
    if (const auto mask = XmlInput::text_of(object, "cpuset")) {
      const auto cpus = parse_cpu_mask(*mask);
      if (!cpus) throw xml_.error(object, fmt::format("cpuset=\"{}\" is not a CPU mask", excerpt(*mask)));
      node.cpus.value = format_cpu_list(*cpus);
    }
    if (const auto memory = parse_integer(XmlInput::text_of(object, "local_memory").value_or(""), 0,
                                          std::int64_t{1} << 60U)) {
      node.memory_bytes.value = static_cast<std::uint64_t>(*memory);
    }
    node.architecture.value = architecture_;
    describe_cpu(here, node);
    host_.numa_nodes.push_back(std::move(node));
  }

  static void describe_cpu(const ObjectContext& here, NumaNode& node) {
    node.package.value = here.package;
    node.cpu_vendor.value = info(here.package_infos, "CPUVendor");
    node.cpu_name.value = info(here.package_infos, "CPUModel");
    if (const auto family = info(here.package_infos, "CPUFamilyNumber"))
      node.cpu_family.value = number(*family);
    if (const auto model = info(here.package_infos, "CPUModelNumber")) node.cpu_model.value = number(*model);
  }

  static std::optional<int> number(const std::string& text) {
    const auto value = parse_integer(text, 0, 1 << 30);
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
  }

  /// 1.x has no NUMANode on a machine with uniform memory.
  void add_only_numa_node(pugi::xml_node machine) {
    if (!machine.attribute("cpuset")) throw xml_.error(machine, "it has no NUMA node and no CPU");
    add_numa_node(machine, {});
    host_.numa_nodes.back().index = 0;
    for (PciDevice& device : host_.pci_devices) {
      if (device.parent.empty()) device.numa_node.value = 0;
    }
  }

  void enter_bridge(pugi::xml_node object, ObjectContext& here) {
    if (object.attribute("bridge_type").value() == std::string_view("0-1")) {
      const std::string_view buses = object.attribute("bridge_pci").value();  // "0000:[2b-3b]"
      if (buses.empty()) return;
      const std::size_t bracket = std::min(buses.find(":["), buses.size());
      const std::string_view domain = buses.substr(0, bracket);
      const std::string_view bus = buses.substr(std::min(bracket + 2, buses.size())).substr(0, 2);
      if (!parse_hex(domain) || !parse_hex(bus) || bus.size() != 2) {
        throw xml_.error(object,
                         fmt::format("bridge_pci=\"{}\" is not like \"0000:[2b-3b]\"", excerpt(buses)));
      }
      here.host_bridge = fmt::format("{}:{}", domain, bus);
      return;
    }
    PciDevice bridge = describe_pci(object, here);
    here.bridge = bridge.address;
    add_pci(object, std::move(bridge));
  }

  [[nodiscard]] PciDevice describe_pci(pugi::xml_node object, const ObjectContext& here) const {
    PciDevice device;
    device.address = pci_address(xml_, object, "pci_busid");
    device.parent = here.bridge;
    if (here.bridge.empty()) {
      device.numa_node.value = here.numa_node;
      if (!here.host_bridge.empty()) device.host_bridge.value = here.host_bridge;
    }
    if (const auto type = XmlInput::text_of(object, "pci_type"); type && !read_pci_type(*type, device)) {
      throw xml_.error(object, fmt::format("pci_type=\"{}\" is not like \"0302 [10de:2330] [10de:16c1] a1\"",
                                           excerpt(*type)));
    }
    const auto bandwidth = leading_number(XmlInput::text_of(object, "pci_link_speed").value_or(""));
    if (bandwidth.value_or(0) > 0) device.link_now.gigabytes_per_second.value = bandwidth;  // 0: not known
    return device;
  }

  void add_pci(pugi::xml_node object, PciDevice device) {
    if (find_pci_device(host_, device.address) != nullptr) {
      throw xml_.error(object, fmt::format("pci_busid {} is listed twice", device.address));
    }
    host_.pci_devices.push_back(std::move(device));
  }

  void read_pci_device(pugi::xml_node object, ObjectContext& here) {
    PciDevice device = describe_pci(object, here);
    PciRole role = pci_role(device.class_code.value_or(""), device.vendor.value_or(""));
    // hwloc knows a switch from NVML where the system hides the function's ids.
    if (object.attribute("subtype").value() == std::string_view("NVSwitch")) role = PciRole::nvswitch;
    if (role == PciRole::other || role == PciRole::bridge) return;  // disks, consoles
    here.pci = device.address;
    if (role == PciRole::gpu) host_.gpus.emplace_back().pci_address.value = here.pci;
    if (role == PciRole::nic) host_.nics.emplace_back().pci_address.value = here.pci;
    if (role == PciRole::nvswitch) host_.nvswitches.emplace_back().pci_address.value = here.pci;
    add_pci(object, std::move(device));
    // NVLinks may name the function instead of its OS device.
    objects_["PCIDev:" + std::string(object.attribute("gp_index").value())] = {here.pci, -1};
  }

  void read_os_device(pugi::xml_node object, const ObjectContext& here) {
    if (here.pci.empty()) return;
    objects_["OSDev:" + std::string(object.attribute("gp_index").value())] = {here.pci, -1};
    const Infos infos = infos_of(object);
    const std::string name = object.attribute("name").value();
    const auto at_pci = [&here](const auto& device) { return device.pci_address.value == here.pci; };
    const auto gpu = std::ranges::find_if(host_.gpus, at_pci);
    if (gpu != host_.gpus.end()) read_gpu_facts(name, infos, *gpu);
    const auto nic = std::ranges::find_if(host_.nics, at_pci);
    if (nic != host_.nics.end()) read_nic_facts(name, infos, *nic);
  }

  static void read_gpu_facts(const std::string& name, const Infos& infos, Gpu& gpu) {
    if (const auto model = info(infos, "GPUModel"); model && !gpu.model.known()) gpu.model.value = model;
    // One device for each partition of AMD's (SPX: one, CPX: six).
    if (name.substr(0, 4) == "rsmi") gpu.partitions.value = gpu.partitions.value_or(0) + 1;
    if (name.substr(0, 4) == "nvml") gpu.index.value = number(name.substr(4));
    if (const auto uuid = info(infos, "NVIDIAUUID")) gpu.uuid.value = uuid;
    if (const auto serial = info(infos, "NVIDIASerial")) gpu.serial.value = serial;
    if (const auto kibibytes = info(infos, "CUDAGlobalMemorySize")) {
      const auto value = parse_integer(*kibibytes, 0, std::int64_t{1} << 50U);
      if (value) gpu.memory_bytes.value = static_cast<std::uint64_t>(*value) * 1024;
    }
  }

  static void read_nic_facts(const std::string& name, const Infos& infos, Nic& nic) {
    const auto guid = info(infos, "NodeGUID");
    if (!guid) {  // a kernel interface; hfi1 and the like have a GUID too
      if (info(infos, "Address")) {
        nic.interfaces.value = nic.interfaces.known() ? *nic.interfaces.value + "," + name : name;
      }
      return;
    }
    nic.name.value = name;
    nic.guid.value = canonical_guid(*guid);
    nic.system_guid.value = canonical_guid(info(infos, "SysImageGUID").value_or(""));
    for (int number = 1; number <= 8; ++number) {
      const auto state = info(infos, fmt::format("Port{}State", number).c_str());
      if (!state) continue;
      NicPort port;
      port.number = number;
      port.state.value = port_state(*state);
      port.gid.value = info(infos, fmt::format("Port{}GID0", number).c_str());
      nic.ports.push_back(std::move(port));
    }
  }

  /// InfiniBand's port states by number (ibv_port_state).
  static std::optional<std::string> port_state(const std::string& digit) {
    constexpr std::array<const char*, 6> kStates{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
    const auto value = parse_integer(digit, 0, kStates.size() - 1);
    if (!value) return std::nullopt;
    return kStates[static_cast<std::size_t>(*value)];
  }

  const XmlInput& xml_;
  Host host_;
  std::optional<std::string> architecture_;
  HwlocObjects objects_;
};

bool is_hwloc_xml(const ReaderInput& input) {
  return input.xml && input.text.find("<topology") != std::string_view::npos;
}

}  // namespace

Host read_hwloc_xml(std::string_view text, std::string_view file) {
  const XmlInput xml(text, file, "topology", "hwloc's XML");
  return TreeReader(xml, file).read();
}

constexpr TopologyReader kHwlocXmlReader{
    .name = "hwloc XML",
    .coverage = {.gpus = true, .nics = true, .nvswitches = true},
    .recognizes = is_hwloc_xml,
    .read = read_hwloc_xml,
};

}  // namespace collbench::topology
