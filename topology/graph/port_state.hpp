#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The logical state of a port, as ibv_port_state has it. The order is that of a link that comes up.
enum class PortState { not_known, nop, down, init, armed, active, active_defer };

/// From the words of ibstat, ibstatus, ibv_devinfo, rdma link, sysfs, hwloc, ip link and operstate.
[[nodiscard]] PortState port_state(std::string_view words);
[[nodiscard]] PortState port_state(const NicPort& port);

/// Whether the port carries traffic, by all that its sources say: none where they do not say enough. NCCL
/// takes active ports only (IBV_PORT_ACTIVE, src/transport/net_ib), and no port is active without a link.
[[nodiscard]] std::optional<bool> carries_traffic(const NicPort& port);

/// For prices: a port whose state nobody read is not down.
[[nodiscard]] bool may_carry_traffic(const NicPort& port);

/// The rates of the ports that may carry traffic; 0 where none is known.
[[nodiscard]] double usable_gigabits(const Nic& nic);

/// Why it carries no traffic, in the words of its source: "DOWN", "INIT", "Polling".
[[nodiscard]] std::string port_state_text(const NicPort& port);

}  // namespace collbench::topology
