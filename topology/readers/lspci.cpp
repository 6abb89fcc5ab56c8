#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text_input.hpp"
#include "base/text_search.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

constexpr std::string_view kLspciOutput = "the output of lspci -vvv";
constexpr std::string_view kSaveLspci = "save it again, as root, with: lspci -vvv > FILE";

/// pci.ids' names of the classes that matter here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kClasses{
    {{"PCI bridge", "0x060400"},
     {"Bridge", "0x068000"},
     {"3D controller", "0x030200"},
     {"VGA compatible controller", "0x030000"},
     {"Display controller", "0x038000"},
     {"Processing accelerators", "0x120000"},
     {"Infiniband controller", "0x020700"},
     {"Ethernet controller", "0x020000"},
     {"Network controller", "0x028000"}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kVendors{
    {{"NVIDIA Corporation", "0x10de"}, {"Mellanox Technologies", "0x15b3"}, {"Broadcom", "0x14e4"}}};

/// A function and the buses below it.
struct Function {
  PciDevice device;
  int secondary = -1;  ///< bus right below; −1: no bridge
};

/// "0x2330" of "Device 2330"; none for a name.
std::optional<std::string> id_of_unnamed(std::string_view text) {
  const std::size_t at = text.rfind("Device ");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(at + 7, 4);
  if (digits.size() != 4 || !parse_hex(digits)) return std::nullopt;
  return "0x" + lower(digits);
}

/// Class, vendor and device: by number where -nn was given, else by the names that are known here.
void read_ids(std::string_view title, PciDevice& device) {
  const std::size_t colon = title.find(": ");
  std::string_view class_name = title.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : title.substr(colon + 2);
  if (const std::size_t bracket = class_name.find(" ["); bracket != std::string_view::npos) {
    const std::string_view digits = class_name.substr(bracket + 2, 4);
    if (digits.size() == 4 && parse_hex(digits))
      device.class_code.value = fmt::format("0x{}00", lower(digits));
    class_name = class_name.substr(0, bracket);
  }
  for (const auto& [name, code] : kClasses) {
    if (class_name == name && !device.class_code.known()) device.class_code.value = std::string(code);
  }
  for (const auto& [name, id] : kVendors) {
    if (rest.starts_with(name)) device.vendor.value = std::string(id);
  }
  device.device.value = id_of_unnamed(rest);
  // "[10de:2330]": the last brackets with a colon.
  for (std::size_t at = rest.rfind('['); at != std::string_view::npos && at > 0;
       at = rest.rfind('[', at - 1)) {
    const std::string_view ids = rest.substr(at + 1, 9);
    if (ids.size() != 9 || ids[4] != ':' || !parse_hex(ids.substr(0, 4)) || !parse_hex(ids.substr(5)))
      continue;
    device.vendor.value = "0x" + lower(ids.substr(0, 4));
    device.device.value = "0x" + lower(ids.substr(5));
    break;
  }
}

/// "19:00.0 3D controller: …" or "0000:19:00.0 …"; none for a line of details.
std::optional<PciDevice> read_title(const Line& line) {
  const std::string_view text = line.text;
  if (text.empty() || text.front() == ' ' || text.front() == '\t') return std::nullopt;
  const std::size_t blank = text.find(' ');
  const std::string_view first = text.substr(0, blank);
  if (blank == std::string_view::npos || first.find('.') == std::string_view::npos) return std::nullopt;
  const auto address = canonical_pci_address(first);
  if (!address) return std::nullopt;
  PciDevice device;
  device.address = *address;
  read_ids(text.substr(blank + 1), device);
  return device;
}

/// "LnkSta: Speed 2.5GT/s (downgraded), Width x16 (ok)". Width x0 is a port with nothing in it.
void read_link(std::string_view text, PcieLink& link) {
  const auto rate = number_behind(text, "Speed ");
  const auto lanes = number_behind(text, "Width x");
  if (rate.value_or(0) > 0) link.gigatransfers_per_second.value = rate;
  if (lanes.value_or(0) >= 1 && *lanes <= 32) link.width.value = static_cast<int>(*lanes);
}

/// What takes peers' requests up to the host; SrcValid alone is what NCCL's guide asks to look for.
bool has_acs(std::string_view text) {
  constexpr std::array<std::string_view, 4> kWords{"SrcValid+", "ReqRedir+", "CmpltRedir+", "UpstreamFwd+"};
  return std::ranges::any_of(
      kWords, [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

void read_detail(const Line& line, std::string_view file, Function& function) {
  const std::string_view text = trim(line.text);
  PciDevice& device = function.device;
  if (text.starts_with("LnkCap:")) read_link(text, device.link_max);
  if (text.starts_with("LnkSta:")) read_link(text, device.link_now);
  if (text.starts_with("ACSCtl:")) device.acs.value = has_acs(text);
  if (text.starts_with("NUMA node: ")) {
    const auto node = parse_integer(text.substr(11), 0, 1 << 16);
    if (node) device.numa_node.value = static_cast<int>(*node);
  }
  if (!text.starts_with("Bus: ")) return;
  const auto bus = parse_hex(text_between(text, "secondary=", ",").value_or(""));
  if (!bus || *bus > 255) {
    throw usage_error(location(file, line.number),
                      fmt::format("'{}' names no secondary bus", excerpt(text, 80)), std::string(kSaveLspci));
  }
  if (*bus > 0) function.secondary = static_cast<int>(*bus);  // 0: not set up
}

std::vector<Function> read_functions(std::string_view text, std::string_view file) {
  std::vector<Function> functions;
  for (const Line& line : clean_lines(text)) {
    if (auto device = read_title(line)) {
      const bool twice = std::ranges::any_of(
          functions, [&](const Function& known) { return known.device.address == device->address; });
      if (twice) {
        throw usage_error(location(file, line.number), fmt::format("{} is listed twice", device->address),
                          std::string(kSaveLspci));
      }
      functions.push_back({std::move(*device)});
    } else if (!functions.empty()) {
      read_detail(line, file, functions.back());
    }
  }
  return functions;
}

/// "0000:19" of "0000:19:00.0".
std::string bus_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

/// The bridge whose secondary bus it is on, unless that bus would be its own or lead back to it.
void hang_below_bridges(std::vector<Function>& functions) {
  for (Function& function : functions) {
    for (const Function& bridge : functions) {
      const std::string domain = bridge.device.address.substr(0, bridge.device.address.find(':'));
      const std::string below = fmt::format("{}:{:02x}", domain, std::max(bridge.secondary, 0));
      const bool further = below > bus_of(bridge.device.address);  // buses are numbered downward
      if (bridge.secondary > 0 && further && below == bus_of(function.device.address))
        function.device.parent = bridge.device.address;
    }
  }
}

/// Whether the text holds such an output, at least in part.
bool has_lspci(std::string_view text) {
  return text.find("LnkSta:") != std::string_view::npos && text.find("LnkCap:") != std::string_view::npos;
}

bool is_lspci(const ReaderInput& input) { return !input.xml && has_lspci(input.text); }

}  // namespace

Host read_lspci(std::string_view text, std::string_view file) {
  require_text(text, file, kLspciOutput);
  std::vector<Function> functions = read_functions(text, file);
  if (functions.empty() || !has_lspci(text)) {
    throw usage_error(std::string(file), fmt::format("no device link found; expected {}", kLspciOutput),
                      std::string(kSaveLspci));
  }
  hang_below_bridges(functions);
  Host host;
  host.sources.push_back(kLspciReader.source(file));
  for (Function& function : functions) {
    PciDevice& device = function.device;
    const PciRole role = pci_role(device.class_code.value_or(""), device.vendor.value_or(""));
    if (role == PciRole::other && function.secondary < 0) continue;  // a bridge may go by another name
    if (role == PciRole::gpu) host.gpus.emplace_back().pci_address.value = device.address;
    if (role == PciRole::nic) host.nics.emplace_back().pci_address.value = device.address;
    if (role == PciRole::nvswitch) host.nvswitches.emplace_back().pci_address.value = device.address;
    host.pci_devices.push_back(std::move(device));
  }
  drop_idle_bridges(host);
  return host;
}

constexpr TopologyReader kLspciReader{
    .name = "lspci -vvv",
    .coverage = {.gpus = true, .nics = true, .nvswitches = true},
    .recognizes = is_lspci,
    .read = read_lspci,
};

}  // namespace collbench::topology
