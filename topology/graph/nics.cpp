#include "topology/graph/nics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <regex>
#include <tuple>
#include <utility>

#include "base/text_input.hpp"

namespace collbench::topology {

std::optional<std::string> canonical_guid(std::string_view text) {
  std::string digits(text);
  digits.erase(std::remove(digits.begin(), digits.end(), ':'), digits.end());
  const auto value = parse_hex(digits);
  if (!value || *value == 0) return std::nullopt;
  return fmt::format("0x{:016x}", *value);
}

std::optional<std::string> swap_guid(std::string_view text) {
  const auto canonical = canonical_guid(text);
  if (!canonical) return std::nullopt;
  std::string swapped = "0x";
  for (std::size_t i = canonical->size(); i > 2; i -= 2) swapped += canonical->substr(i - 2, 2);
  return swapped;
}

std::optional<std::string> pci_address_in_name(std::string_view name) {
  static const std::regex pattern(
      "(?:roce|ib|en)(?:P([0-9]{1,5}))?p([0-9]{1,3})s([0-9]{1,2})(?:f([0-7]))?(?:np?[0-9]+)?");
  std::cmatch parts;
  if (!std::regex_match(name.data(), name.data() + name.size(), parts, pattern)) return std::nullopt;
  const auto number = [&parts](std::size_t i) { return parts[i].matched ? std::stoi(parts[i].str()) : 0; };
  if (number(2) > 255 || number(3) > 31) return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{}", number(1), number(2), number(3), number(4));
}

std::string_view vendor_of_rdma_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kDrivers{{{"mlx5_", "0x15b3"},
                                                                                   {"mlx4_", "0x15b3"},
                                                                                   {"bnxt_re", "0x14e4"},
                                                                                   {"hfi1_", "0x8086"},
                                                                                   {"irdma", "0x8086"}}};
  for (const auto& [prefix, vendor] : kDrivers) {
    if (name.starts_with(prefix)) return vendor;
  }
  return {};
}

bool is_rdma(const Nic& nic) {
  const std::string name = nic.name.value_or("");
  // As rdma-core names them where it renames them: "rocep137s0f1", "rdmap79s0" (kernel-boot/rdma_rename.c).
  const bool named = name.starts_with("roce") || name.starts_with("rdma") || name.starts_with("ib");
  return named || nic.guid.known() || nic.label.known() || !vendor_of_rdma_name(name).empty();
}

namespace {

/// Shorter ones first, so that numbers at the end count.
using Name = std::pair<std::size_t, std::string>;

Name name_key(const Fact<std::string>& fact) {
  const std::string name = fact.value_or("");
  return {name.size(), name};
}

int lowest_port(const Nic& nic) {
  int lowest = std::numeric_limits<int>::max();
  for (const NicPort& port : nic.ports) lowest = std::min(lowest, port.number);
  return lowest;
}

auto key(const Nic& nic) {
  return std::tuple(
      nic.pci_address.value_or(""), lowest_port(nic),
      std::array{name_key(nic.label), name_key(nic.name), name_key(nic.interfaces), name_key(nic.guid)});
}

}  // namespace

std::vector<int> nic_order(const Host& host) {
  std::vector<int> order(host.nics.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&host](int a, int b) {
    return std::pair(key(host.nics[static_cast<std::size_t>(a)]), a) <
           std::pair(key(host.nics[static_cast<std::size_t>(b)]), b);
  });
  return order;
}

}  // namespace collbench::topology
