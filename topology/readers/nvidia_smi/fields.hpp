#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_input.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The line where nvidia-smi says that it failed ("ERROR: Option …", "NVIDIA-SMI has failed …"); none when it
/// worked.
[[nodiscard]] std::optional<Line> find_nvidia_smi_error(const std::vector<Line>& lines);

/// nvidia-smi's values mean the same in its XML and its CSV; read here for both. All are none for none, and
/// for a text that is not understood.

/// The text itself; none for "N/A", "[N/A]", "[Not Supported]", "[Unknown Error]" and the like.
[[nodiscard]] std::optional<std::string> known_field(std::string_view text);

/// "81559 MiB" (or a bare number of MiB) to bytes.
[[nodiscard]] std::optional<std::uint64_t> memory_bytes(const std::optional<std::string>& text);

/// "Enabled" or "Disabled".
[[nodiscard]] std::optional<bool> switched_on(const std::optional<std::string>& text);

/// Generation "5" and width "16x" or "16".
[[nodiscard]] PcieLink pcie_link(const std::optional<std::string>& generation,
                                 const std::optional<std::string>& width);

/// "0x233010DE" or "233010DE": the device, then the vendor.
void read_pci_device_id(const std::optional<std::string>& text, Fact<std::string>& vendor,
                        Fact<std::string>& device);

}  // namespace collbench::topology
