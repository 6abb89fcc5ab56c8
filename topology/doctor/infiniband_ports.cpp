#include "topology/doctor/infiniband_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "topology/graph/nics.hpp"
#include "topology/graph/port_state.hpp"

namespace collbench::topology {
namespace {

constexpr std::size_t kMinSiblings = 2;  // that are up, before one that is down is lost

PortCondition condition_of(const NicPort& port) {
  if (may_carry_traffic(port)) return PortCondition::up;
  const PortState state = port_state(port);
  return state == PortState::init || state == PortState::armed ? PortCondition::no_subnet
                                                               : PortCondition::down;
}

std::string port_kind(const Nic& nic) { return fmt::format("{}/{}", card_kind(nic), nic.ports.size()); }

}  // namespace

std::string card_kind(const Nic& nic) {
  if (nic.board.known()) return *nic.board.value;
  const std::string firmware = nic.firmware.value_or("");
  const std::size_t dot = firmware.find('.');
  return dot == std::string::npos ? "" : "firmware " + firmware.substr(0, dot);
}

bool InfinibandPort::is_lost() const {
  return condition == PortCondition::down && siblings_up.size() >= kMinSiblings;
}

std::vector<InfinibandPort> infiniband_ports(const Host& host) {
  std::vector<InfinibandPort> ports;
  std::map<std::string, std::vector<const NicPort*>> up;
  std::map<std::string, std::size_t> of_kind;
  for (std::size_t nic = 0; nic < host.nics.size(); ++nic) {
    const Nic& card = host.nics[nic];
    if (!is_rdma(card)) continue;
    for (std::size_t i = 0; i < card.ports.size(); ++i) {
      const NicPort& port = card.ports[i];
      if (port.link_layer.value_or("") != "InfiniBand" || !carries_traffic(port).has_value()) continue;
      ports.push_back({nic, i, condition_of(port), {}});
      ++of_kind[port_kind(card)];
      if (ports.back().condition == PortCondition::up) up[port_kind(card)].push_back(&port);
    }
  }
  for (InfinibandPort& each : ports) {
    const std::string kind = port_kind(host.nics[each.nic]);
    each.siblings_up = up[kind];
    each.siblings = of_kind[kind] - 1;
    std::erase(each.siblings_up, &host.nics[each.nic].ports[each.port]);
  }
  return ports;
}

bool may_clear(const std::vector<InfinibandPort>& ports) {
  const auto is_up = [](const InfinibandPort& each) { return each.condition == PortCondition::up; };
  const auto in_doubt = [](const InfinibandPort& each) {
    return each.condition == PortCondition::down && each.siblings > 0 && !each.is_lost();
  };
  return std::ranges::any_of(ports, is_up) && std::ranges::none_of(ports, in_doubt);
}

}  // namespace collbench::topology
