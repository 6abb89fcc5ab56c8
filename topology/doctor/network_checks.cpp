// network_checks() of checks.hpp: ports of RDMA devices, and what they were given.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "topology/doctor/look.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

std::string port_name(const Host& host, std::size_t nic, const NicPort& port) {
  return fmt::format("{} port {}", device_label(host, {DeviceKind::nic, static_cast<int>(nic)}), port.number);
}

/// Applies `look` to every port of InfiniBand whose state is known; whether there was any. A port of Ethernet
/// that is down may be meant to be.
template <class Look>
bool each_port(const Evidence& evidence, Look look) {
  bool seen = false;
  for (std::size_t nic = 0; nic < evidence.host.nics.size(); ++nic) {
    for (const NicPort& port : evidence.host.nics[nic].ports) {
      if (!port.state.known() || !is_rdma(evidence.host.nics[nic])) continue;
      if (port.link_layer.value_or("") != "InfiniBand") continue;
      seen = true;
      look(nic, port);
    }
  }
  return seen;
}

/// What tells cards of one kind: the board, else the first number of NVIDIA's firmware, which is that of the
/// chip (28 is ConnectX-7). Empty where neither is known.
std::string card_kind(const Nic& nic) {
  if (nic.board.known()) return *nic.board.value;
  const std::string firmware = nic.firmware.value_or("");
  const std::size_t dot = firmware.find('.');
  return dot == std::string::npos ? "" : "firmware " + firmware.substr(0, dot);
}

/// INIT and ARMED are InfiniBand's states of a cable without a subnet manager.
DoctorVerdict look_at_subnet(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  const bool seen = each_port(evidence, [&](std::size_t nic, const NicPort& port) {
    const std::string state = port.state.value_or("");
    if (state.starts_with("INIT") || state.starts_with("Init") || state == "ARMED" || state == "Armed")
      found.push_back({fmt::format("{}: {}", port_name(evidence.host, nic, port), state), ""});
  });
  return seen ? DoctorVerdict(found) : std::nullopt;
}

/// A port that is down is usual for a management port or a spare; among cards of the same kind that are up,
/// it is a lost rail.
DoctorVerdict look_at_ports(const Evidence& evidence) {
  const auto kind = [&evidence](std::size_t nic, const NicPort& port) {
    const Nic& card = evidence.host.nics[nic];
    return fmt::format("{}/{}/{}", card_kind(card), port.link_layer.value_or(""), card.ports.size());
  };
  std::map<std::string, int> up;
  const bool seen = each_port(evidence, [&](std::size_t nic, const NicPort& port) {
    if (lower(port.state.value_or("")) == "active") ++up[kind(nic, port)];
  });
  std::vector<DoctorObservation> found;
  constexpr int kMinSiblings = 2;
  each_port(evidence, [&](std::size_t nic, const NicPort& port) {
    if (lower(port.state.value_or("")) != "down" || up[kind(nic, port)] < kMinSiblings) return;
    found.push_back(
        {fmt::format("{}: DOWN{}, {} of the same kind are up", port_name(evidence.host, nic, port),
                     port.physical_state.known() ? ", " + *port.physical_state.value : "",
                     up[kind(nic, port)]),
         ""});
  });
  return seen ? DoctorVerdict(found) : std::nullopt;
}

/// By the board alone: a chip of 400 Gb/s is also built into cards of 200.
DoctorVerdict look_at_rates(const Evidence& evidence) {
  std::map<std::string, double> fastest;
  const auto kind = [&evidence](std::size_t nic, const NicPort& port) {
    return evidence.host.nics[nic].board.value_or("") + port.link_layer.value_or("");
  };
  bool seen = false;
  const auto active_rate = [](const NicPort& port) {
    return lower(port.state.value_or("")) == "active" ? port.gigabits_per_second.value_or(0) : 0.0;
  };
  each_port(evidence, [&](std::size_t nic, const NicPort& port) {
    if (!evidence.host.nics[nic].board.known() || active_rate(port) <= 0) return;
    seen = true;
    double& most = fastest[kind(nic, port)];
    most = std::max(most, active_rate(port));
  });
  std::vector<DoctorObservation> found;
  each_port(evidence, [&](std::size_t nic, const NicPort& port) {
    if (!evidence.host.nics[nic].board.known() || active_rate(port) <= 0) return;
    if (active_rate(port) < fastest[kind(nic, port)])
      found.push_back(
          {fmt::format("{}: {} Gb/s, another card of its board runs at {}",
                       port_name(evidence.host, nic, port), active_rate(port), fastest[kind(nic, port)]),
           ""});
  });
  return seen ? DoctorVerdict(found) : std::nullopt;
}

DoctorVerdict look_at_firmware(const Evidence& evidence) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> by_board;
  for (std::size_t i = 0; i < evidence.host.nics.size(); ++i) {
    const Nic& nic = evidence.host.nics[i];
    if (!card_kind(nic).empty() && nic.firmware.known())
      by_board[card_kind(nic)][*nic.firmware.value].push_back(
          device_label(evidence.host, {DeviceKind::nic, static_cast<int>(i)}));
  }
  if (by_board.empty()) return std::nullopt;
  std::vector<DoctorObservation> found;
  for (const auto& [board, versions] : by_board) {
    if (versions.size() < 2) continue;
    std::string text = board + ":";
    for (const auto& [version, nics] : versions) text += fmt::format(" {} × {}", nics.size(), version);
    found.push_back({text, ""});
  }
  return found;
}

/// "ib6: lost carrier" of systemd-networkd, "mlx5_core 0000:19:00.0 ib6: Link down" of the driver. One or two
/// are a switch or a cable that somebody replaced.
DoctorVerdict look_at_flapping(const Evidence& evidence) {
  constexpr int kMinFlaps = 3;
  std::map<std::string, int> losses;
  std::map<std::string, std::string> first;
  for (const EvidenceLine& line : evidence.of("kernel-log")) {
    std::size_t end = line.text.find(": lost carrier");
    if (end == std::string::npos) end = line.text.find(": Link down");
    if (end == std::string::npos) continue;
    const std::vector<std::string> words = split_words(line.text.substr(0, end));
    // Of a container's bridge nothing is lost.
    const bool rdma = has_text(line.text, "mlx5") || (!words.empty() && words.back().starts_with("ib"));
    if (!rdma || words.empty()) continue;
    ++losses[words.back()];
    first.try_emplace(words.back(), line.location);
  }
  std::vector<DoctorObservation> found;
  for (const auto& [interface, count] : losses) {
    if (count >= kMinFlaps)
      found.push_back({fmt::format("{} lost its link {} times", interface, count), first.at(interface)});
  }
  return found.empty() && !evidence.whole.contains("kernel-log") ? DoctorVerdict() : DoctorVerdict(found);
}

/// "link mlx5_7/1 … lid 3403 sm_lid 1 lmc 0 state DOWN physical_state POLLING": a port without a cable has no
/// LID (65535 or 0), and no subnet manager has given it one.
DoctorVerdict look_at_lost_ports(const Evidence& evidence) {
  return lines_that(evidence, "rdma-link", [](std::string_view line) {
    constexpr double kNoLid = 65535;
    const auto lid = number_behind(line, " lid ");
    const auto manager = number_behind(line, " sm_lid ");
    return has_text(line, " state DOWN ") && lid && manager && *lid > 0 && *lid < kNoLid && *manager > 0;
  });
}

constexpr std::array<DoctorCheck, 6> kNetworkChecks{{
    {"port-no-subnet", DoctorSeverity::broken,
     "An InfiniBand port has a cable and no subnet manager: it carries nothing.",
     "ibstat, or /sys/class/infiniband", "ibstat ; sminfo",
     "start a subnet manager, or repair the switch that runs it", "InfiniBand architecture: port states",
     look_at_subnet},
    {"port-down", DoctorSeverity::broken, "A port is down where its siblings are up: its rail is lost.",
     "ibstat, or /sys/class/infiniband", "ibstat ; mlxlink -d DEVICE",
     "look at the cable and at the switch's port", "rccl#1423; azure port flap", look_at_ports},
    {"port-slow", DoctorSeverity::slow, "A port came up at a lower rate than another card of the same board.",
     "/sys/class/infiniband", "ibstat ; mlxlink -d DEVICE",
     "reseat or replace the cable, check the switch port's speed",
     "docs/model.md: one slow NIC halves NCCL's rings", look_at_rates},
    {"link-flapping", DoctorSeverity::broken,
     "A link goes down again and again: jobs across it hang or fail.", "dmesg, or the system log",
     "journalctl -k | grep -iE 'lost carrier|link down' ; mlxlink -d DEVICE -e",
     "replace the cable or transceiver, then the switch port",
     "azurehpc-health-checks (IB link flap test), rccl#1423", look_at_flapping},
    {"firmware-mixed", DoctorSeverity::risk, "Cards of the same kind have different firmware.",
     "ibstat, or /sys/class/infiniband", "ibstat | grep Firmware", "bring all to the same version",
     "vendors' advice for mixed fleets", look_at_firmware},
    {"port-lost", DoctorSeverity::broken,
     "A port is down that has been part of the subnet since the machine started: its link was lost.",
     "rdma link", "rdma link ; mlxlink -d DEVICE -e",
     "replace the cable or transceiver, then the switch port", "rccl#1423 (hardware suspected)",
     look_at_lost_ports},
}};

}  // namespace

std::span<const DoctorCheck> network_checks() { return kNetworkChecks; }

}  // namespace collbench::topology
