#include "topology/render/matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"

namespace collbench::topology {
namespace {

/// "nearest NIC: mlx5_0, mlx5_1 (PXB)": all NICs at the least distance.
std::string nearest_text(const Host& host, const Device& gpu) {
  std::string names;
  std::optional<PathType> nearest;
  for (const Device& nic : nics_by_nearness(host, gpu)) {
    const auto path = path_between(host, gpu, nic);
    if (!path || (nearest && path->type != *nearest)) break;
    nearest = path->type;
    names += (names.empty() ? "" : ", ") + device_label(host, nic);
  }
  return nearest ? fmt::format("nearest NIC {} ({})", names, path_type_name(*nearest)) : "";
}

std::string nvlink_text(const Host& host, const Device& gpu) {
  std::map<int, std::vector<std::string>, std::greater<>> peers;  // by the number of links
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    const Device peer{DeviceKind::gpu, i};
    const int links = nvlinks_between(host, gpu, peer);
    if (links > 0) peers[links].push_back(device_label(host, peer));
  }
  std::string text;
  for (const auto& [links, labels] : peers) {
    const bool all = labels.size() > 1 && labels.size() + 1 == host.gpus.size();
    text += fmt::format("{}{} NVLink{} to {}", text.empty() ? "" : "; ", links, links == 1 ? "" : "s",
                        all ? "every other GPU" : fmt::format("{}", fmt::join(labels, ", ")));
  }
  return text;
}

}  // namespace

std::string show_affinity(const Host& host) {
  std::string out;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    const Device gpu{DeviceKind::gpu, i};
    const auto numa = numa_node_of(host, gpu);
    std::string line;
    const auto& cpus = host.gpus[static_cast<std::size_t>(i)].cpu_affinity.value;
    if (numa) {
      line += fmt::format("  NUMA {}", *numa);
    } else if (cpus) {
      line += "  CPUs " + *cpus;
    }
    for (const std::string& part : {nearest_text(host, gpu), nvlink_text(host, gpu)}) {
      if (!part.empty()) line += "  " + part;
    }
    if (!line.empty()) out += fmt::format("  {:<6}{}\n", device_label(host, gpu), line);
  }
  return out.empty() ? out : "Affinity\n" + out;
}

namespace {

/// The words of a matrix that need explaining, with nvidia-smi's meaning.
constexpr std::array<std::pair<PathType, const char*>, 7> kLegend{{
    {PathType::nvl, "NV#   # NVLinks"},
    {PathType::c2c, "C2C   chip to chip"},
    {PathType::pix, "PIX   one PCIe bridge"},
    {PathType::pxb, "PXB   several PCIe bridges"},
    {PathType::phb, "PHB   a PCIe host bridge"},
    {PathType::node, "NODE  host bridges of one NUMA node"},
    {PathType::sys, "SYS   between NUMA nodes"},
}};

constexpr std::string_view kNotKnown = "?";

std::string matrix_cell(const std::optional<Path>& path) {
  if (!path) return std::string(kNotKnown);
  if (path->type == PathType::nvl) return fmt::format("NV{}", path->nvlinks);
  return std::string(nvidia_smi_word(path->type).value_or(path_type_name(path->type)));
}

}  // namespace

std::string show_matrix(const Host& host) {
  const std::vector<Device> devices = gpus_and_nics(host);
  std::size_t width = 4;
  for (const Device& device : devices) width = std::max(width, device_label(host, device).size());
  std::string out = fmt::format("{:<{}}", "", width);
  for (const Device& device : devices) out += fmt::format("  {:<{}}", device_label(host, device), width);
  out.erase(out.find_last_not_of(' ') + 1);
  out += "\n";
  std::map<PathType, bool> used;
  bool unknown = false;
  for (const Device& row : devices) {
    out += fmt::format("{:<{}}", device_label(host, row), width);
    for (const Device& column : devices) {
      const auto path = path_between(host, row, column);
      if (path) used[path->type] = true;
      unknown = unknown || !path;
      out += fmt::format("  {:<{}}", matrix_cell(path), width);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  if (unknown) out += fmt::format("  {:<6}not known\n", kNotKnown);
  for (const auto& [type, words] : kLegend) {
    if (used.contains(type)) out += fmt::format("  {}\n", words);
  }
  return out;
}

}  // namespace collbench::topology
