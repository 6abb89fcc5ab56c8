#include "topology/graph/pci.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/text_input.hpp"

namespace collbench::topology {
namespace {

std::optional<std::uint64_t> hex_up_to(std::string_view text, std::uint64_t most) {
  if (text.empty() || text.size() > 8 || text.find_first_of("xX") != std::string_view::npos)
    return std::nullopt;
  const auto value = parse_hex(text);
  if (!value || *value > most) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> canonical_pci_address(std::string_view text) {
  std::vector<std::string> parts = split_cells(text, ':');
  if (parts.size() == 2) parts.insert(parts.begin(), "0");
  if (parts.size() != 3) return std::nullopt;
  const std::vector<std::string> slot = split_cells(parts[2], '.');
  if (slot.size() > 2) return std::nullopt;
  const auto domain = hex_up_to(parts[0], 0xFFFFFFFF);
  const auto bus = hex_up_to(parts[1], 0xFF);
  // Virtual switches in providers' files go by ffff:ff:NN.0 with NN above the 5 bits of a real device.
  const auto device = hex_up_to(slot[0], domain == 0xFFFF ? 0xFF : 0x1F);
  const auto function = slot.size() == 2 ? hex_up_to(slot[1], 0xF) : std::optional<std::uint64_t>(0);
  if (!domain || !bus || !device || !function) return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain, *bus, *device, *function);
}

std::string pci_address(const XmlInput& xml, pugi::xml_node node, const char* attribute) {
  const std::string text = XmlInput::text_of(node, attribute).value_or("");
  const auto address = canonical_pci_address(text);
  if (!address)
    throw xml.error(node, fmt::format("{}=\"{}\" is not a PCI address", attribute, excerpt(text)));
  return *address;
}

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

}  // namespace collbench::topology
