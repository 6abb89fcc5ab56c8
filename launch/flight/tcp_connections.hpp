#pragma once
#include <cstdint>

#include "launch/flight/flight_page.hpp"

namespace collbench::launch {

/// Of all established TCP connections of this process to other hosts, by tcp_info (RFC 4898; since
/// Linux 4.19).
struct TcpBytes {
  std::uint64_t sent = 0;    ///< those sent again among them
  std::uint64_t resent = 0;  ///< sent again: lost, or taken for lost
};
[[nodiscard]] TcpBytes view_tcp_bytes();

/// What this process sent and sends again by a timeout of TCP, so not only because the other end does not
/// read: of its connections the one with the most such timeouts in a row.
[[nodiscard]] Unacknowledged view_unacknowledged();

}  // namespace collbench::launch
