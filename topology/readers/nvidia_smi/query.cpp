#include <fmt/format.h>

#include "base/text_input.hpp"
#include "base/xml_input.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/nvidia_smi/fields.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

/// The text at a path such as "pci/pci_bus_id"; none when it is absent or N/A.
std::optional<std::string> field(pugi::xml_node gpu, const char* path) {
  const pugi::xml_node node = gpu.first_element_by_path(path);
  return node ? known_field(node.child_value()) : std::nullopt;
}

PcieLink read_link(pugi::xml_node gpu, const char* generation, const char* width) {
  const std::string base = "pci/pci_gpu_link_info/";
  return pcie_link(field(gpu, (base + "pcie_gen/" + generation).c_str()),
                   field(gpu, (base + "link_widths/" + width).c_str()));
}

int count_mig_devices(pugi::xml_node gpu) {
  int count = 0;
  for ([[maybe_unused]] const pugi::xml_node device : gpu.child("mig_devices").children("mig_device"))
    ++count;
  return count;
}

void read_gpu(const XmlInput& xml, pugi::xml_node node, Host& host) {
  Gpu gpu;
  gpu.model.value = field(node, "product_name");
  gpu.uuid.value = field(node, "uuid");
  gpu.serial.value = field(node, "serial");
  gpu.pci_address.value = pci_address(xml, node, "id");
  gpu.memory_bytes.value = memory_bytes(field(node, "fb_memory_usage/total"));
  gpu.mig.value = switched_on(field(node, "mig_mode/current_mig"));
  if (gpu.mig.value_or(false)) gpu.mig_devices.value = count_mig_devices(node);
  gpu.fabric_state.value = field(node, "fabric/state");
  gpu.fabric_status.value = field(node, "fabric/status");
  gpu.virtualization.value = field(node, "gpu_virtualization_mode/virtualization_mode");
  PciDevice device;
  device.address = *gpu.pci_address.value;
  read_pci_device_id(field(node, "pci/pci_device_id"), device.vendor, device.device);
  read_pci_device_id(field(node, "pci/pci_sub_system_id"), device.subsystem_vendor, device.subsystem_device);
  device.link_now = read_link(node, "current_link_gen", "current_link_width");
  device.link_max = read_link(node, "max_link_gen", "max_link_width");
  host.pci_devices.push_back(std::move(device));
  host.gpus.push_back(std::move(gpu));
}

bool is_nvidia_smi_query(const ReaderInput& input) {
  return input.xml && input.text.find("<nvidia_smi_log") != std::string_view::npos;
}

}  // namespace

Host read_nvidia_smi_query(std::string_view text, std::string_view file) {
  const XmlInput xml(text, file, "nvidia_smi_log", "the output of nvidia-smi -q -x");
  Host host;
  host.driver_version.value = field(xml.root(), "driver_version");
  host.cuda_version.value = field(xml.root(), "cuda_version");
  host.sources.push_back(kNvidiaSmiQueryReader.source(file, host.driver_version.value_or("")));
  for (const pugi::xml_node gpu : xml.root().children("gpu")) read_gpu(xml, gpu, host);
  if (host.gpus.empty()) throw xml.error(xml.root(), "it has no <gpu>");
  // GPUs stand in nvidia-smi's order, so the position is the index when all are there; with -i it is not.
  const auto attached = parse_integer(field(xml.root(), "attached_gpus").value_or(""), 0, 9999);
  if (attached && *attached == static_cast<std::int64_t>(host.gpus.size())) {
    for (std::size_t i = 0; i < host.gpus.size(); ++i) host.gpus[i].index.value = static_cast<int>(i);
  } else if (attached) {
    host.notes.emplace_back(
        fmt::format("{} GPUs are attached, the file describes {}", *attached, host.gpus.size()));
  }
  return host;
}

constexpr TopologyReader kNvidiaSmiQueryReader{
    .name = "nvidia-smi -q -x",
    .coverage = {.gpus = true, .nics = false, .nvswitches = false},
    .recognizes = is_nvidia_smi_query,
    .read = read_nvidia_smi_query,
};

}  // namespace collbench::topology
