#include "topology/nic_order.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace collbench {
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
  std::sort(order.begin(), order.end(), [&host](int a, int b) {
    return std::pair(key(host.nics[static_cast<std::size_t>(a)]), a) <
           std::pair(key(host.nics[static_cast<std::size_t>(b)]), b);
  });
  return order;
}

}  // namespace collbench
