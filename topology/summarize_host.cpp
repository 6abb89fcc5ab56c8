#include "topology/summarize_host.hpp"

#include <fmt/format.h>

#include <map>

#include "base/units.hpp"
#include "topology/path.hpp"

namespace collbench {

std::string summarize_host(const Host& host) {
  std::map<std::string, int> models;
  for (const Gpu& gpu : host.gpus) {
    ++models[gpu.model.value_or(gpu.sm.known() ? fmt::format("GPU (sm {})", *gpu.sm.value) : "GPU")];
  }
  std::string out;
  for (const auto& [model, count] : models)
    out += fmt::format("{}{} × {}", out.empty() ? "" : ", ", count, model);
  if (out.empty()) out = "no GPU";
  const int links = host.gpus.empty() ? 0 : nvlinks_of(host, {DeviceKind::gpu, 0});
  if (links > 0) out += fmt::format(", {} each", counted(static_cast<std::size_t>(links), "NVLink"));
  if (!host.nvswitches.empty()) {
    out += fmt::format(" through {} NVSwitches", host.nvswitches.size());
  } else if (links > 0 && has_nvswitch(host)) {
    out += " through NVSwitches";
  }
  out += ", " + counted(host.nics.size(), "NIC");
  double gigabits = 0;
  for (const Nic& nic : host.nics) {
    for (const NicPort& port : nic.ports) gigabits += port.gigabits_per_second.value_or(0);
  }
  if (gigabits > 0) out += fmt::format(" ({} Gb/s together)", gigabits);
  if (!host.numa_nodes.empty()) {
    out += ", " + counted(host.numa_nodes.size(), "NUMA node");
  }
  return out;
}

}  // namespace collbench
