#include "topology/pci_class.hpp"

namespace collbench {

PciRole pci_role(std::string_view class_code, std::string_view vendor) {
  const std::string_view base = class_code.substr(0, 4);   // "0x03"
  const std::string_view whole = class_code.substr(0, 6);  // "0x0302"
  if (whole == "0x0604") return PciRole::bridge;
  if (whole == "0x0680" && vendor == "0x10de") return PciRole::nvswitch;
  if (base == "0x02") return PciRole::nic;
  if (vendor == "0x10de" && base == "0x03") return PciRole::gpu;
  if (vendor == "0x1002" && (whole == "0x0302" || whole == "0x0380" || whole == "0x1200"))
    return PciRole::gpu;
  if (vendor.empty() && whole == "0x0302") return PciRole::gpu;
  return PciRole::other;
}

}  // namespace collbench
