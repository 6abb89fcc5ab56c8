#include "topology/nccl_nvlinks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/pci_class.hpp"
#include "topology/text_input.hpp"

namespace collbench {
namespace {

/// The position of the device at `address` in `devices`; one that is not there is added.
template <class Item>
int find_or_add(std::vector<Item>& devices, const std::optional<std::string>& address) {
  const auto known = std::find_if(devices.begin(), devices.end(), [&address](const Item& device) {
    return device.pci_address.value == address;
  });
  const auto index = static_cast<int>(known - devices.begin());
  if (known == devices.end()) devices.emplace_back().pci_address.value = address;
  return index;
}

bool is_gpu_at(const Host& host, const std::string& address) {
  return std::any_of(host.gpus.begin(), host.gpus.end(),
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

}  // namespace

void add_nvlinks(const std::vector<WrittenNvLink>& links, Host& host) {
  for (const WrittenNvLink& link : links) {
    const auto to = target_of(link, host);
    if (!to) {
      host.notes.push_back(
          fmt::format("{}: an NVLink leads to {} of class '{}', neither GPU nor NVSwitch; left out",
                      link.where, *link.target, excerpt(link.target_class)));
      continue;
    }
    if (to == link.from)
      host.notes.push_back(fmt::format("{}: an NVLink of {} leads to itself", link.where, *link.target));
    host.nvlinks.push_back({link.from, *to, link.count, {}});
  }
}

}  // namespace collbench
