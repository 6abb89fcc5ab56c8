#include "topology/graph/device_slots.hpp"

#include <algorithm>
#include <tuple>

#include "topology/catalog/gpus.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/path.hpp"

namespace collbench::topology {
namespace {

Nearness coarse(PathType type) {
  switch (type) {
    case PathType::loc:
    case PathType::pix:
    case PathType::pxb:
      return Nearness::one_switch;
    case PathType::phb:
    case PathType::node:
      return Nearness::one_node;
    case PathType::sys:
      return Nearness::far;
    case PathType::nvl:
    case PathType::nvb:
    case PathType::c2c:
    case PathType::p2c:
    case PathType::pxn:
    case PathType::net:
      break;
  }
  return Nearness::unknown;
}

std::string gpu_model(const Host& host, const Gpu& gpu) {
  if (const GpuModel* model = find_gpu_model(gpu.model.value_or(""))) return std::string(model->name);
  if (gpu.model.known()) return *gpu.model.value;
  const PciDevice* pci = find_pci_device(host, gpu.pci_address.value_or(""));
  if (pci == nullptr) return {};
  const GpuModel* model = find_gpu_model_by_pci(pci->vendor.value_or(""), pci->device.value_or(""));
  return model != nullptr ? std::string(model->name) : pci->device.value_or("");
}

/// A fast one and a slow one are different parts; the state of a port is none of it.
std::string nic_model(const Nic& nic) {
  double gigabits = 0;
  for (const NicPort& port : nic.ports) gigabits = std::max(gigabits, port.gigabits_per_second.value_or(0));
  if (gigabits == 0) return {};
  return gigabits >= 100 ? "fast" : "slow";
}

/// PCI's; of a NIC of which nothing but NCCL's number is known, that.
std::string slot_address(const Host& host, const Device& device) {
  if (device.kind == DeviceKind::nic) {
    const Nic& nic = host.nics[static_cast<std::size_t>(device.index)];
    Nic numbered;
    numbered.nccl_net = nic.nccl_net;
    if (nic.nccl_net.known() && nic == numbered) return device_label(host, device);
  }
  return pci_address_of(host, device).value_or("");
}

std::string name_of(const Host& host, const Device& device) {
  const auto at = static_cast<std::size_t>(device.index);
  if (device.kind == DeviceKind::gpu) return host.gpus[at].uuid.value_or("");
  return device.kind == DeviceKind::nic ? host.nics[at].name.value_or("") : "";
}

std::vector<DeviceSlot> slots_of(const Host& host) {
  std::vector<DeviceSlot> slots;
  const auto add = [&](DeviceKind kind, int index, std::string model) {
    const Device device{kind, index};
    const std::string address = slot_address(host, device);
    slots.push_back({device, address, address.empty() ? name_of(host, device) : "", std::move(model),
                     kind == DeviceKind::nvswitch ? -1 : numa_node_of(host, device).value_or(-1)});
  };
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i)
    add(DeviceKind::gpu, i, gpu_model(host, host.gpus[static_cast<std::size_t>(i)]));
  for (int i = 0; i < static_cast<int>(host.nvswitches.size()); ++i) add(DeviceKind::nvswitch, i, {});
  const auto before_nics = static_cast<std::ptrdiff_t>(slots.size());
  for (const int i : nic_order(host))
    add(DeviceKind::nic, i, nic_model(host.nics[static_cast<std::size_t>(i)]));
  std::sort(slots.begin(), slots.begin() + before_nics, [&host](const DeviceSlot& x, const DeviceSlot& y) {
    const auto key = [&host](const DeviceSlot& slot) {
      const int number = slot.device.kind == DeviceKind::gpu
                             ? host.gpus[static_cast<std::size_t>(slot.device.index)].index.value_or(0)
                             : 0;
      return std::tuple(slot.device.kind != DeviceKind::gpu, slot.address, number, slot.device.index);
    };
    return key(x) < key(y);
  });
  return slots;
}

/// Whether a source shows what the device's PCI function hangs on: a bridge, a host bridge or, without any
/// bridge between, a NUMA node. nvidia-smi names functions and shows no tree.
bool shows_attachment(const Host& host, const Device& device) {
  const auto way = way_to_root(host, device);
  return !way.empty() && (way.back()->host_bridge.known() || way.back()->numa_node.known());
}

bool states_nvlinks(const Host& host) {
  return std::ranges::any_of(host.stated_paths, [](const StatedPath& path) {
    return path.from.kind == DeviceKind::gpu && path.to.kind == DeviceKind::gpu && path.type.known();
  });
}

}  // namespace

Nearness nearness(const Host& host, const Device& a, const Device& b) {
  const StatedPath* stated = find_stated_path(host, a, b);
  if (stated != nullptr && stated->type.known() && coarse(*stated->type.value) != Nearness::unknown) {
    return coarse(*stated->type.value);
  }
  const auto type = pci_path_type(host, a, b);
  if (!type) return Nearness::unknown;
  const Nearness near = coarse(*type);
  // A matrix says NV18 of two GPUs of one NUMA node: whether they share a switch as well, it does not say.
  if (near == Nearness::one_node && !(shows_attachment(host, a) && shows_attachment(host, b)))
    return Nearness::unknown;
  return near;
}

int wired_nvlinks(const Host& host, const Device& from, const Device& to) {
  int links = 0;
  for (const NvLinkBundle& bundle : host.nvlinks) {
    if (bundle.from == from && bundle.to == to) links += bundle.count.value_or(0);
  }
  if (!host.nvlinks.empty()) return links;
  for (const StatedPath& path : host.stated_paths) {
    if (path.from == from && path.to == to) return path.nvlinks.value_or(0);
  }
  return 0;
}

NvLinkCount common_nvlink_count(const Host& a, const Host& b) {
  const bool in_a = !a.nvlinks.empty();
  const bool in_b = !b.nvlinks.empty();
  if (in_a && in_b) return NvLinkCount::by_wire;
  if ((in_a || states_nvlinks(a)) && (in_b || states_nvlinks(b))) {
    return in_a || in_b ? NvLinkCount::by_pair : NvLinkCount::by_wire;
  }
  return NvLinkCount::not_at_all;
}

int counted_nvlinks(const Host& host, const Device& from, const Device& to, NvLinkCount count) {
  switch (count) {
    case NvLinkCount::not_at_all:
      return 0;
    case NvLinkCount::by_wire:
      return wired_nvlinks(host, from, to);
    case NvLinkCount::by_pair:
      break;
  }
  return from.kind == DeviceKind::gpu && to.kind == DeviceKind::gpu ? nvlinks_between(host, from, to) : 0;
}

SlotPlan slot_plan(const Host& host, NvLinkCount count_links) {
  SlotPlan plan{slots_of(host), {}, {}};
  const std::size_t count = plan.slots.size();
  plan.near.assign(count, std::vector<Nearness>(count, Nearness::unknown));
  plan.nvlinks.assign(count, std::vector<int>(count));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const Device& from = plan.slots[i].device;
      const Device& to = plan.slots[j].device;
      if (i == j) continue;
      if (from.kind == DeviceKind::gpu && to.kind != DeviceKind::nic)
        plan.nvlinks[i][j] = counted_nvlinks(host, from, to, count_links);
      if (from.kind == DeviceKind::nvswitch || to.kind == DeviceKind::nvswitch || j > i) continue;
      plan.near[i][j] = plan.near[j][i] = nearness(host, from, to);
    }
  }
  return plan;
}

}  // namespace collbench::topology
