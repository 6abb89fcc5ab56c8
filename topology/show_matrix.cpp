#include "topology/show_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "topology/lookup.hpp"
#include "topology/path.hpp"

namespace collbench {
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

}  // namespace collbench
