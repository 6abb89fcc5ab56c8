#pragma once
#include <string_view>

namespace collbench {

/// What a PCI function is to us, by its class ("0x030200") and vendor ("0x10de"; empty where not given).
enum class PciRole { bridge, gpu, nic, nvswitch, other };

/// GPUs are NVIDIA's of class 03 and AMD's accelerators (class 0302, 0380, 1200), and class 0302 of no known
/// vendor (providers' files). Plain VGA of other vendors, which is mostly a server's console, is none.
[[nodiscard]] PciRole pci_role(std::string_view class_code, std::string_view vendor);

}  // namespace collbench
