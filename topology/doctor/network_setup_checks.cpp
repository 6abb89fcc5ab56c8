// network_setup_checks() of checks.hpp: what ports were given by subnet managers, switches and
// administrators.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "topology/doctor/look.hpp"
#include "topology/graph/port_state.hpp"

namespace collbench::topology {
namespace {

/// The value of an ibv_devinfo field "active_mtu: 1024 (3)".
struct PortFields {
  std::string device;
  std::string layer;
  double active_mtu = 0;
  double max_mtu = 0;
  std::optional<double> sm_lid;
  bool active = false;
  std::string location;
};

std::vector<PortFields> ibv_ports(const Evidence& evidence) {
  std::vector<PortFields> ports;
  std::string device;
  for (const EvidenceLine& line : evidence.of("ibv_devinfo")) {
    const std::string_view text = line.text;
    if (text.starts_with("hca_id:")) device = std::string(trim(text.substr(7)));
    if (text.starts_with("port:") || (ports.empty() && !text.starts_with("hca_id:")) ||
        (text.starts_with("hca_id:") && !ports.empty() && ports.back().device.empty()))
      ports.push_back({device, "", 0, 0, std::nullopt, false, line.location});
    if (ports.empty()) continue;
    PortFields& port = ports.back();
    if (text.starts_with("state:")) port.active = port_state(text.substr(6)) == PortState::active;
    if (text.starts_with("max_mtu:")) port.max_mtu = leading_number(trim(text.substr(8))).value_or(0);
    if (text.starts_with("active_mtu:")) {
      port.active_mtu = leading_number(trim(text.substr(11))).value_or(0);
      port.location = line.location;
    }
    if (text.starts_with("sm_lid:")) port.sm_lid = leading_number(trim(text.substr(7)));
    if (text.starts_with("link_layer:")) port.layer = std::string(trim(text.substr(11)));
  }
  return ports;
}

/// Below 4096: an interface of 1500 bytes gives RoCE packets of 1024.
DoctorVerdict look_at_mtu(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (const PortFields& port : ibv_ports(evidence)) {
    if (!port.active || port.active_mtu <= 0 || port.max_mtu <= 0) continue;
    seen = true;
    const double enough = port.layer == "InfiniBand" ? 2048 : 4096;
    if (port.active_mtu < std::min(enough, port.max_mtu))
      found.push_back(
          {fmt::format("{}: active MTU {}, maximum {}", port.device.empty() ? "a port" : port.device,
                       port.active_mtu, port.max_mtu),
           port.location});
  }
  return found_where(seen, found);
}

DoctorVerdict look_at_subnet_manager(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (const PortFields& port : ibv_ports(evidence)) {
    if (port.layer != "InfiniBand" || !port.sm_lid || !port.active) continue;
    seen = true;
    if (*port.sm_lid == 0) found.push_back({fmt::format("{}: sm_lid 0", port.device), port.location});
  }
  return found_where(seen, found);
}

/// mlnx_qos: below "PFC configuration:" the line "enabled" has a flag for each of eight priorities.
DoctorVerdict look_at_flow_control(const Evidence& evidence) {
  if (!evidence.has("mlnx_qos")) return std::nullopt;
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (const EvidenceLine& line : evidence.of("mlnx_qos")) {
    const std::vector<std::string> words = split_words(line.text);
    if (words.size() != 9 || words.front() != "enabled") continue;
    seen = true;
    if (std::all_of(words.begin() + 1, words.end(), [](const std::string& word) { return word == "0"; }))
      found.push_back(quoted(line));
  }
  return found_where(seen, found);
}

/// "Priority trust state: pcp": untagged packets are of priority 0 then, whatever their DSCP, and are not
/// those that flow control protects.
DoctorVerdict look_at_trust(const Evidence& evidence) {
  std::optional<DoctorObservation> by_tag;
  bool seen = false;
  bool protects_others_only = false;
  for (const EvidenceLine& line : evidence.of("mlnx_qos")) {
    if (line.text.starts_with("Priority trust state:")) {
      seen = true;
      if (line.text.ends_with("pcp")) by_tag = quoted(line);
    }
    const std::vector<std::string> words = split_words(line.text);
    if (words.size() == 9 && words.front() == "enabled")
      protects_others_only = words[1] == "0" && std::ranges::find(words, "1") != words.end();
  }
  if (!seen) return std::nullopt;
  return by_tag && protects_others_only ? finding(*by_tag) : healthy();
}

/// A row of show_gids: "mlx5_0  1  3  0000:0000:0000:0000:0000:ffff:0a00:0001  10.0.0.1  v2  eth0".
struct Gid {
  std::string device;
  std::string index;
  std::string value;
  bool is_v2 = false;
  std::string location;

  /// An address that routers forward: not the one that every interface makes for itself.
  [[nodiscard]] bool is_routed() const { return is_v2 && !value.starts_with("fe80:"); }
};

/// A line of ibv_devinfo -v, "GID[  3]:  ::ffff:10.0.0.1, RoCE v2"; none for another.
std::optional<Gid> devinfo_gid(const EvidenceLine& line, const std::string& device) {
  const std::string_view text = line.text;
  const std::size_t close = text.find("]:");
  if (!text.starts_with("GID[") || close == std::string_view::npos) return std::nullopt;
  std::string_view value = trim(text.substr(close + 2));
  value = value.substr(0, value.find(','));
  return Gid{device, std::string(trim(text.substr(4, close - 4))), std::string(value),
             text.ends_with("RoCE v2"), line.location};
}

std::vector<Gid> gids(const Evidence& evidence) {
  std::vector<Gid> rows;
  for (const EvidenceLine& line : evidence.of("gids")) {
    const std::vector<std::string> words = split_words(line.text);
    if (words.size() < 5 || !parse_integer(words[1], 1, 255) || !parse_integer(words[2], 0, 65535)) continue;
    const bool is_v2 = std::find(words.begin() + 4, words.end(), "v2") != words.end();
    rows.push_back({words[0], words[2], words[3], is_v2, line.location});
  }
  if (!rows.empty()) return rows;
  std::string device = "a device";
  for (const EvidenceLine& line : evidence.of("ibv_devinfo")) {
    if (line.text.starts_with("hca_id:")) device = std::string(trim(std::string_view(line.text).substr(7)));
    if (std::optional<Gid> row = devinfo_gid(line, device)) rows.push_back(std::move(*row));
  }
  return rows;
}

/// The devices that speak RoCE: an InfiniBand port has no address of version 2.
std::map<std::string, std::vector<Gid>> roce_gids(const Evidence& evidence) {
  std::map<std::string, std::vector<Gid>> by_device;
  for (Gid& row : gids(evidence)) by_device[row.device].push_back(std::move(row));
  std::erase_if(by_device, [](const auto& each) { return std::ranges::none_of(each.second, &Gid::is_v2); });
  return by_device;
}

DoctorVerdict look_at_gid_index(const Evidence& evidence) {
  const auto set = environment_setting(evidence, "NCCL_IB_GID_INDEX");
  if (!set) return healthy_if(knows_environment(evidence));
  if (gids(evidence).empty()) return std::nullopt;
  if (set->value == "-1") return healthy();  // NCCL's default: it finds the index
  const auto by_device = roce_gids(evidence);
  const auto row_of = [&set](const std::vector<Gid>& rows) {
    return std::ranges::find(rows, set->value, &Gid::index);
  };
  // Where other devices have the index, one without it may be down, or not NCCL's.
  const bool some_have_it = std::ranges::any_of(by_device, [&row_of](const auto& each) {
    const auto row = row_of(each.second);
    return row != each.second.end() && row->is_v2;
  });
  std::vector<DoctorObservation> found;
  for (const auto& [device, rows] : by_device) {
    const auto row = row_of(rows);
    const bool any_routed = std::ranges::any_of(rows, &Gid::is_routed);
    if (row == rows.end() ? some_have_it : row->is_v2 && (row->is_routed() || !any_routed)) continue;
    const char* what = row == rows.end() ? "no GID"
                       : row->is_v2      ? "a link-local address, which no router forwards,"
                                         : "RoCE v1, which no router forwards,";
    found.push_back(
        {fmt::format("NCCL_IB_GID_INDEX={} is {} on {}", excerpt(set->value, 10), what, excerpt(device, 40)),
         row == rows.end() ? set->location : row->location});
  }
  return found;
}

DoctorVerdict look_at_roce_address(const Evidence& evidence) {
  if (gids(evidence).empty()) return std::nullopt;
  std::vector<DoctorObservation> found;
  for (const auto& [device, rows] : roce_gids(evidence)) {
    const bool routed = std::ranges::any_of(rows, &Gid::is_routed);
    if (!routed)
      found.push_back(
          {fmt::format("{} has link-local addresses only", excerpt(device, 40)), rows.front().location});
  }
  return found;
}

/// Bit 15 of a key is full membership; limited members of a partition do not hear each other.
DoctorVerdict look_at_partitions(const Evidence& evidence) {
  constexpr std::uint64_t kFull = 0x8000;
  struct Keys {
    std::vector<std::string> limited;
    bool any_full = false;
    std::string location;
  };
  std::map<std::string, Keys> by_port;
  for (const EvidenceLine& line : evidence.of("partition-keys")) {
    const std::size_t at = line.text.find("/pkeys/");
    const std::size_t colon = line.text.find(":0x", at == std::string::npos ? 0 : at);
    if (at == std::string::npos || colon == std::string::npos) continue;
    const auto key = parse_hex(line.text.substr(colon + 3));
    if (!key || *key == 0) continue;
    Keys& keys = by_port[line.text.substr(0, at)];
    keys.any_full = keys.any_full || *key >= kFull;
    keys.limited.push_back(line.text.substr(colon + 1));
    keys.location = line.location;
  }
  if (by_port.empty()) return std::nullopt;
  std::vector<DoctorObservation> found;
  for (const auto& [port, keys] : by_port) {
    if (!keys.any_full)
      found.push_back({fmt::format("{}: {}", excerpt(port, 80), keys.limited.front()), keys.location});
  }
  return found;
}

DoctorVerdict look_at_forced_ordering(const Evidence& evidence) {
  return lines_that(evidence, "mlxconfig", [](std::string_view line) {
    return line.starts_with("PCI_WR_ORDERING") && has_text(line, "force_relax");
  });
}

constexpr std::array<DoctorCheck, 8> kNetworkSetupChecks{{
    {"mtu-small", DoctorSeverity::slow,
     "A port sends packets smaller than it could: more of them for the same bytes, and mismatched ends drop "
     "them.",
     "ibv_devinfo", "ibv_devinfo | grep -E 'hca_id|mtu' ; ip link",
     "set the interface's MTU to 9000 on hosts and switches (RoCE)", "nccl#709 (confirmed)", look_at_mtu},
    {"subnet-manager-missing", DoctorSeverity::broken, "The port knows no subnet manager.", "ibv_devinfo",
     "sminfo", "start a subnet manager", "InfiniBand architecture", look_at_subnet_manager},
    {"flow-control-off", DoctorSeverity::risk,
     "No priority has flow control (PFC): RoCE loses packets when the network fills, and collapses.",
     "mlnx_qos -i INTERFACE", "mlnx_qos -i INTERFACE",
     "mlnx_qos -i INTERFACE --pfc 0,0,0,1,0,0,0,0, and the same on the switches",
     "nccl#378 (maintainer's hypothesis)", look_at_flow_control},
    {"dscp-not-trusted", DoctorSeverity::risk,
     "The port goes by VLAN tags: RoCE's packets are not in the priority that flow control protects.",
     "mlnx_qos -i INTERFACE", "mlnx_qos -i INTERFACE | grep trust",
     "mlnx_qos -i INTERFACE --trust dscp, and the same on the switches",
     "NVIDIA, MLNX_EN user manual, quality of service; nccl#378 (maintainer's hypothesis)", look_at_trust},
    {"gid-index-wrong", DoctorSeverity::broken,
     "NCCL_IB_GID_INDEX names no routed address of RoCE v2: connections time out.",
     "show_gids or ibv_devinfo -v, and env | grep NCCL_", "show_gids ; echo $NCCL_IB_GID_INDEX",
     "unset it (NCCL 2.21 and newer finds the index), or name a v2 index of every device",
     "nccl#426 (solved by the index), nccl#769 (confirmed), NCCL user guide, NCCL_IB_GID_INDEX",
     look_at_gid_index},
    {"roce-no-address", DoctorSeverity::risk,
     "A RoCE device has no IP address: it reaches its own subnet at most.", "show_gids",
     "show_gids ; ip addr", "give its interface an address",
     "NVIDIA, RDMA over Converged Ethernet: a GID for each address", look_at_roce_address},
    {"partition-limited", DoctorSeverity::broken,
     "A port is a limited member of its partitions only: two of them cannot speak to each other.",
     "/sys/class/infiniband/*/ports/*/pkeys", "grep . /sys/class/infiniband/*/ports/*/pkeys/*",
     "make it a full member in the subnet manager's partitions.conf (ALL=full)",
     "InfiniBand architecture: partition keys", look_at_partitions},
    {"relaxed-ordering-forced", DoctorSeverity::broken,
     "The NIC reorders all writes, also where a library relies on their order: NCCL's data is lost or mixed "
     "up.",
     "mlxconfig -d DEVICE q", "mlxconfig -d DEVICE q PCI_WR_ORDERING",
     "mlxconfig -d DEVICE set PCI_WR_ORDERING=0 (per_mkey)",
     "nccl#531 and nccl#615 (maintainer's advice: per_mkey)", look_at_forced_ordering},
}};

}  // namespace

std::span<const DoctorCheck> network_setup_checks() { return kNetworkSetupChecks; }

}  // namespace collbench::topology
