#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/xml_input.hpp"

namespace collbench::topology {

/// The one spelling of a PCI address: "0000:17:00.0", lower case, the domain with at least four digits.
/// Takes nvidia-smi's eight-digit domains ("00000000:17:00.0"), upper case, and addresses without a domain
/// ("17:00.0") or without a function ("0000:17:00"). None for anything else.
[[nodiscard]] std::optional<std::string> canonical_pci_address(std::string_view text);

/// An XML attribute as a PCI address, in that spelling; throws Error (usage) with FILE:LINE when it is absent
/// or none.
[[nodiscard]] std::string pci_address(const XmlInput& xml, pugi::xml_node node, const char* attribute);

/// What a PCI function is to us, by its class ("0x030200") and vendor ("0x10de"; empty where not given).
enum class PciRole { bridge, gpu, nic, nvswitch, other };

/// GPUs are NVIDIA's of class 03 and AMD's accelerators (class 0302, 0380, 1200), and class 0302 of no known
/// vendor (providers' files). Plain VGA of other vendors, which is mostly a server's console, is none.
[[nodiscard]] PciRole pci_role(std::string_view class_code, std::string_view vendor);

}  // namespace collbench::topology
