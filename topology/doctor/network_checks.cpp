// network_checks() of checks.hpp: ports of RDMA devices, and what they were given.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "topology/doctor/infiniband_ports.hpp"
#include "topology/doctor/look.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/port_state.hpp"

namespace collbench::topology {
namespace {

std::string port_name(const Host& host, std::size_t nic, const NicPort& port) {
  return fmt::format("{} port {}", device_label(host, {DeviceKind::nic, static_cast<int>(nic)}), port.number);
}

DoctorVerdict look_at_subnet(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  const std::vector<InfinibandPort> ports = infiniband_ports(evidence.host);
  for (const InfinibandPort& each : ports) {
    const NicPort& port = evidence.host.nics[each.nic].ports[each.port];
    if (each.condition == PortCondition::no_subnet)
      found.push_back(
          {fmt::format("{}: {}", port_name(evidence.host, each.nic, port), port_state_text(port)), ""});
  }
  return found_where(may_clear(ports) || !found.empty(), found);
}

DoctorVerdict look_at_ports(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  const std::vector<InfinibandPort> ports = infiniband_ports(evidence.host);
  for (const InfinibandPort& each : ports) {
    if (!each.is_lost()) continue;
    const NicPort& port = evidence.host.nics[each.nic].ports[each.port];
    const std::string state = port_state_text(port);
    const std::string link = port.physical_state.value_or(state);
    found.push_back(
        {fmt::format("{}: {}{}, {} of the same kind are up", port_name(evidence.host, each.nic, port), state,
                     link == state ? "" : ", " + link, each.siblings_up.size()),
         ""});
  }
  return found_where(may_clear(ports) || !found.empty(), found);
}

/// By the board alone: a chip of 400 Gb/s is also built into cards of 200.
DoctorVerdict look_at_rates(const Evidence& evidence) {
  struct Rated {
    std::string name;
    std::string board;
    double gigabits = 0;
  };
  std::vector<Rated> all;
  for (const InfinibandPort& each : infiniband_ports(evidence.host)) {
    const Nic& nic = evidence.host.nics[each.nic];
    const NicPort& port = nic.ports[each.port];
    if (each.condition == PortCondition::up && nic.board.known() && port.gigabits_per_second.value_or(0) > 0)
      all.push_back(
          {port_name(evidence.host, each.nic, port), *nic.board.value, *port.gigabits_per_second.value});
  }
  bool compared = false;
  std::vector<DoctorObservation> found;
  for (const Rated& each : all) {
    double fastest = 0;
    for (const Rated& other : all) {
      if (&other == &each || other.board != each.board) continue;
      compared = true;
      fastest = std::max(fastest, other.gigabits);
    }
    if (each.gigabits < fastest)
      found.push_back({fmt::format("{}: {} Gb/s, another card of its board runs at {}", each.name,
                                   each.gigabits, fastest),
                       ""});
  }
  return found_where(compared || !found.empty(), found);
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
  return found_in(evidence, "kernel-log", found);
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

/// ibv_devinfo's own words, in its output; from sysfs it lists what the container may not open.
DoctorVerdict look_at_closed_devices(const Evidence& evidence) {
  return lines_that(evidence, "ibv_devinfo",
                    [](std::string_view line) { return trim(line) == "Failed to open device"; });
}

/// Ports that wait for a subnet manager are port-no-subnet's.
DoctorVerdict look_at_all_ports(const Evidence& evidence) {
  bool all_down = true;
  std::vector<DoctorObservation> found;
  for (std::size_t i = 0; i < evidence.host.nics.size(); ++i) {
    const Nic& nic = evidence.host.nics[i];
    if (!is_rdma(nic)) continue;
    for (const NicPort& port : nic.ports) {
      if (carries_traffic(port).value_or(false)) return healthy();
      all_down = all_down && port_state(port) == PortState::down;
      found.push_back({fmt::format("{}: {}", port_name(evidence.host, i, port), port_state_text(port)), ""});
    }
  }
  for (const EvidenceLine& line : evidence.of("ibv_devinfo")) {
    if (!trim(line.text).starts_with("state:")) continue;
    if (has_text(line.text, "PORT_ACTIVE")) return healthy();
    all_down = all_down && has_text(line.text, "PORT_DOWN");
    const DoctorObservation seen = quoted(line);
    if (found.empty() || found.back().what != seen.what) found.push_back(seen);
  }
  return found.empty() || !all_down ? std::nullopt : DoctorVerdict(std::move(found));
}

constexpr std::array<DoctorCheck, 8> kNetworkChecks{{
    {"rdma-devices-closed", DoctorSeverity::risk,
     "An RDMA device is listed and cannot be opened here: NCCL and MPI cannot use it.", "ibv_devinfo",
     "ls -l /dev/infiniband ; ibv_devinfo (on the host, too)",
     "give the container /dev/infiniband/uverbs* of that device, or the user the right to it; a virtual "
     "function that belongs to another pod stays listed, and is no loss",
     "rdma-core, libibverbs/examples/devinfo.c; k8s-rdma-device-plugin#8", look_at_closed_devices},
    {"no-port-up", DoctorSeverity::risk,
     "No port of the RDMA devices that are listed is up: between nodes jobs go by sockets, or fail.",
     "ibstat, ibv_devinfo or /sys/class/infiniband", "ibstat ; ip link ; mlxlink -d DEVICE",
     "cables and switch ports; on Ethernet ip link set INTERFACE up; a virtual function: its GUID and link "
     "state (ip link set PF vf N state auto). In a container, the devices that are the job's",
     "network-operator#249, DeepEP#60", look_at_all_ports},
    {"port-no-subnet", DoctorSeverity::broken,
     "An InfiniBand port has a cable and no subnet manager: it carries nothing.",
     "ibstat, or /sys/class/infiniband, with ports that are up", "ibstat ; sminfo",
     "start a subnet manager, or repair the switch that runs it", "InfiniBand architecture: port states",
     look_at_subnet},
    {"port-down", DoctorSeverity::broken, "A port is down where its siblings are up: its rail is lost.",
     "ibstat, or /sys/class/infiniband, with ports that are up", "ibstat ; mlxlink -d DEVICE",
     "look at the cable and at the switch's port", "rccl#1423; azure port flap", look_at_ports},
    {"port-slow", DoctorSeverity::slow, "A port came up at a lower rate than another card of the same board.",
     "/sys/class/infiniband, with two cards of one board", "ibstat ; mlxlink -d DEVICE",
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
