#include "topology/readers/nvidia_smi/fields.hpp"

#include <fmt/format.h>

#include <array>

#include "topology/catalog/links.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {

std::optional<Line> find_nvidia_smi_error(const std::vector<Line>& lines) {
  constexpr std::array<std::string_view, 4> kErrors{"ERROR: Option ", "NVIDIA-SMI has failed",
                                                    "Failed to initialize NVML", "No devices were found"};
  for (const Line& line : lines) {
    for (const std::string_view error : kErrors) {
      if (trim(line.text).substr(0, error.size()) == error) return line;
    }
  }
  return std::nullopt;
}

Error without_nvidia_smi_output(const std::vector<Line>& lines, std::string_view file, const Error& missing) {
  const auto error = find_nvidia_smi_error(lines);
  if (!error) return missing;
  return usage_error(location(file, error->number),
                     fmt::format("nvidia-smi failed: '{}'", excerpt(error->text, 120)),
                     "run nvidia-smi by hand and fix that first");
}

std::optional<std::string> known_field(std::string_view text) {
  text = trim(text);
  if (text.empty() || text == "N/A" || text.front() == '[') return std::nullopt;
  return std::string(text);
}

std::optional<std::uint64_t> memory_bytes(const std::optional<std::string>& text) {
  const auto mebibytes = parse_integer(text ? split_words(*text).front() : "", 0, std::int64_t{1} << 40U);
  if (!mebibytes) return std::nullopt;
  return static_cast<std::uint64_t>(*mebibytes) << 20U;
}

std::optional<bool> switched_on(const std::optional<std::string>& text) {
  if (text == "Enabled") return true;
  if (text == "Disabled") return false;
  return std::nullopt;
}

PcieLink pcie_link(const std::optional<std::string>& generation, const std::optional<std::string>& width) {
  PcieLink link;
  const auto number = parse_integer(generation.value_or(""), 1, 9);
  const double rate = number ? pcie_gigatransfers(static_cast<int>(*number)) : 0;
  if (rate > 0) link.gigatransfers_per_second.value = rate;
  const std::string digits = width.value_or("").substr(0, width.value_or("").find('x'));
  if (const auto lanes = parse_integer(digits, 1, 64)) link.width.value = static_cast<int>(*lanes);
  return link;
}

void read_pci_device_id(const std::optional<std::string>& text, Fact<std::string>& vendor,
                        Fact<std::string>& device) {
  const auto id = parse_hex(text.value_or(""));
  if (!id || *id == 0 || *id > 0xFFFFFFFF) return;
  vendor.value = fmt::format("0x{:04x}", *id & 0xFFFFU);
  device.value = fmt::format("0x{:04x}", *id >> 16U);
}

}  // namespace collbench::topology
