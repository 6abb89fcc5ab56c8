#include "topology/graph/port_state.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace collbench::topology {
namespace {

/// Its letters in lower case: "activedefer" of "5: ACTIVE_DEFER", "linkup" of "LINK_UP".
std::string letters_of(std::string_view words) {
  std::string letters;
  for (const char each : words) {
    const auto byte = static_cast<unsigned char>(each);
    if (std::isalpha(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

/// Linux, drivers/infiniband/core/sysfs.c; rdma-core, libibverbs/enum_strs.c and libibmad/dump.c; iproute2,
/// ip/ipaddress.c (RFC 2863 operational states). What they print of a state that they do not know ("???",
/// "UNKNOWN", "invalid state") is none of these.
constexpr std::array<std::pair<std::string_view, PortState>, 15> kPortStates{{
    {"nop", PortState::nop},
    {"down", PortState::down},
    {"lowerlayerdown", PortState::down},
    {"notpresent", PortState::down},
    {"dormant", PortState::down},
    {"testing", PortState::down},
    {"init", PortState::init},
    {"initialize", PortState::init},
    {"initializing", PortState::init},
    {"arm", PortState::armed},
    {"armed", PortState::armed},
    {"up", PortState::active},
    {"active", PortState::active},
    {"activedefer", PortState::active_defer},
    {"activedeferred", PortState::active_defer},
}};

/// The same sources and iproute2, rdma/link.c, of physical states without a link. "ARMED" is rdma's word for
/// training, "TRAINNING" ibv_devinfo's; a port that is offline or in a test is one of Omni-Path.
constexpr std::array<std::string_view, 12> kWithoutLink{"sleep",
                                                        "polling",
                                                        "disabled",
                                                        "portconfigurationtraining",
                                                        "portconfigurationtrainning",
                                                        "armed",
                                                        "linkerrorrecovery",
                                                        "linkerrorrecover",
                                                        "phytest",
                                                        "offline",
                                                        "opaoffline",
                                                        "opatest"};

std::optional<bool> has_link(const NicPort& port) {
  const std::string letters = letters_of(port.physical_state.value_or(""));
  if (letters == "linkup") return true;
  if (std::ranges::find(kWithoutLink, letters) != kWithoutLink.end()) return false;
  return std::nullopt;
}

}  // namespace

PortState port_state(std::string_view words) {
  std::string letters = letters_of(words);
  constexpr std::string_view kVerbs = "port";  // PORT_ACTIVE
  if (letters.starts_with(kVerbs)) letters.erase(0, kVerbs.size());
  const auto* const found =
      std::ranges::find_if(kPortStates, [&letters](const auto& each) { return each.first == letters; });
  return found == kPortStates.end() ? PortState::not_known : found->second;
}

PortState port_state(const NicPort& port) { return port_state(port.state.value_or("")); }

std::optional<bool> carries_traffic(const NicPort& port) {
  const PortState state = port_state(port);
  if (state != PortState::not_known && state != PortState::active) return false;
  if (has_link(port) == false) return false;
  return state == PortState::active ? std::optional(true) : std::nullopt;
}

bool may_carry_traffic(const NicPort& port) { return carries_traffic(port).value_or(true); }

double usable_gigabits(const Nic& nic) {
  double gigabits = 0;
  for (const NicPort& port : nic.ports) {
    if (may_carry_traffic(port)) gigabits += port.gigabits_per_second.value_or(0);
  }
  return gigabits;
}

std::string port_state_text(const NicPort& port) {
  const PortState state = port_state(port);
  const bool by_link = state == PortState::not_known || state == PortState::active;
  return (by_link ? port.physical_state : port.state).value_or("not known");
}

}  // namespace collbench::topology
