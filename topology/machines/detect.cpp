#include "topology/machines/detect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "topology/catalogue/gpus.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"

namespace collbench::topology {
namespace {

// A difference in what decides most weighs most. The weights only order machines.
constexpr int kOtherArchitecture = 20;
constexpr int kOtherModel = 8;
constexpr int kOtherGpuCount = 6;
constexpr int kOtherNvlinks = 6;
constexpr int kOtherNicCount = 3;  // and as much again the further the counts are apart
constexpr int kOtherNicRate = 3;
constexpr int kOtherLinkLayer = 1;

/// What is compared. NICs below 100 Gb/s are management, not fabric.
struct Shape {
  std::string model;
  std::optional<int> sm;
  std::size_t gpus = 0;
  std::size_t nvlinks = 0;
  bool nvlinks_known = false;
  std::size_t nics = 0;
  std::optional<double> nic_gigabits;
  std::string link_layer;
};

const GpuModel* model_of(const Host& host) {
  const Gpu& gpu = host.gpus.front();
  if (const GpuModel* model = find_gpu_model(gpu.model.value_or(""))) return model;
  const PciDevice* pci = find_pci_device(host, gpu.pci_address.value_or(""));
  return pci == nullptr ? nullptr : find_gpu_model_by_pci(pci->vendor.value_or(""), pci->device.value_or(""));
}

Shape shape_of(const Host& host) {
  constexpr double kFabricGigabits = 100;
  Shape shape;
  const GpuModel* model = model_of(host);
  shape.model = model != nullptr ? std::string(model->name) : host.gpus.front().model.value_or("");
  shape.sm = sm_of(host, host.gpus.front());
  shape.gpus = host.gpus.size();
  // Inactive links are a fault of this machine, not another kind of machine.
  const Gpu& first = host.gpus.front();
  shape.nvlinks =
      static_cast<std::size_t>(nvlinks_of(host, {DeviceKind::gpu, 0}) + first.nvlinks_inactive.value_or(0));
  // Files of providers and of PCI alone say nothing of NVLink: 0 there is not "none". Nor is it where
  // nvidia-smi says that all are inactive, without a number.
  const bool all_inactive = first.nvlink_state.known() && shape.nvlinks == 0;
  shape.nvlinks_known =
      !all_inactive && (first.nvlinks_active.known() || !host.nvlinks.empty() || !host.stated_paths.empty());
  for (const Nic& nic : host.nics) {
    const NicPort* port = nic.ports.empty() ? nullptr : &nic.ports.front();
    const auto rate = port != nullptr ? port->gigabits_per_second.value : std::nullopt;
    if (rate.value_or(kFabricGigabits) < kFabricGigabits) continue;
    ++shape.nics;
    if (rate) shape.nic_gigabits = std::max(shape.nic_gigabits.value_or(0), *rate);
    if (port != nullptr && shape.link_layer.empty()) shape.link_layer = port->link_layer.value_or("");
  }
  return shape;
}

std::vector<std::string> not_compared(const Shape& shape, const Shape& reference) {
  std::vector<std::string> names;
  if (shape.model.empty() && !shape.sm) names.emplace_back("the GPU's model");
  if (!shape.nvlinks_known) names.emplace_back("NVLinks");
  if (shape.nics == 0) {
    names.emplace_back("NICs");
  } else if (!shape.nic_gigabits && reference.nic_gigabits) {
    names.emplace_back("the NICs' rate");
  }
  return names;
}

ReferenceMatch compare(const Shape& shape, const ReferenceMachine& machine) {
  const Shape reference = shape_of(reference_host(machine));
  ReferenceMatch match{&machine, 0, {}, not_compared(shape, reference)};
  const auto differ = [&match](int weight, std::string words) {
    match.distance += weight;
    match.differences.push_back(std::move(words));
  };
  if (!shape.model.empty() && shape.model != reference.model) {
    const bool related = shape.sm.has_value() && shape.sm == reference.sm;
    differ(related ? kOtherModel : kOtherArchitecture,
           fmt::format("GPU {} instead of {}", shape.model, reference.model));
  } else if (shape.model.empty() && shape.sm && shape.sm != reference.sm) {
    differ(kOtherArchitecture, fmt::format("sm {} instead of {}", *shape.sm, reference.sm.value_or(0)));
  }
  if (shape.gpus != reference.gpus) {
    differ(kOtherGpuCount, fmt::format("{} instead of {}", counted(shape.gpus, "GPU"), reference.gpus));
  }
  if (shape.nvlinks_known && shape.nvlinks != reference.nvlinks) {
    differ(kOtherNvlinks,
           fmt::format("{} a GPU instead of {}", counted(shape.nvlinks, "NVLink"), reference.nvlinks));
  }
  if (shape.nics > 0 && shape.nics != reference.nics) {
    const auto [fewer, more] = std::minmax(shape.nics, reference.nics);
    const double apart = 1 - static_cast<double>(fewer) / static_cast<double>(more);
    differ(kOtherNicCount + static_cast<int>(std::lround(kOtherNicCount * apart)),
           fmt::format("{} instead of {}", counted(shape.nics, "fast NIC"), reference.nics));
  }
  if (shape.nic_gigabits && reference.nic_gigabits && shape.nic_gigabits != reference.nic_gigabits) {
    differ(kOtherNicRate,
           fmt::format("NICs of {} Gb/s instead of {}", *shape.nic_gigabits, *reference.nic_gigabits));
  }
  if (!shape.link_layer.empty() && !reference.link_layer.empty() &&
      shape.link_layer != reference.link_layer) {
    differ(kOtherLinkLayer, fmt::format("{} instead of {}", shape.link_layer, reference.link_layer));
  }
  return match;
}

}  // namespace

std::vector<ReferenceMatch> nearest_references(const Host& host) {
  std::vector<ReferenceMatch> matches;
  if (host.gpus.empty()) return matches;
  const Shape shape = shape_of(host);
  for (const ReferenceMachine& machine : reference_machines()) matches.push_back(compare(shape, machine));
  // Among equals the order of the table.
  std::sort(matches.begin(), matches.end(), [](const ReferenceMatch& a, const ReferenceMatch& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.machine < b.machine;
  });
  return matches;
}

}  // namespace collbench::topology
