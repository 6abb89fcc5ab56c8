#include "launch/flight/tcp_connections.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace collbench::launch {
namespace {

// Of struct tcp_info in the kernel's <linux/tcp.h>, which is only ever appended to. Its declaration cannot be
// used: glibc's own in <netinet/tcp.h> has the same name and ends before these.
constexpr std::size_t kState = 0;            // tcpi_state, one byte
constexpr std::size_t kTimeouts = 2;         // tcpi_retransmits, one byte: in a row
constexpr std::size_t kBytesSent = 200;      // tcpi_bytes_sent
constexpr std::size_t kBytesResent = 208;    // tcpi_bytes_retrans
constexpr std::size_t kKnownFromSize = 216;  // an older kernel fills less

using TcpInfo = std::array<char, 512>;

/// Its other end, as IPv4 also where the socket is of IPv6; 0: not known, or of IPv6.
std::uint32_t peer_of(int descriptor) {
  sockaddr_in6 peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return 0;
  in_addr address{};
  if (peer.sin6_family == AF_INET) {
    std::memcpy(&address, &reinterpret_cast<const sockaddr_in*>(&peer)->sin_addr, sizeof address);
  } else if (IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr)) {
    std::memcpy(&address, &peer.sin6_addr.s6_addr[12], sizeof address);
  } else if (IN6_IS_ADDR_LOOPBACK(&peer.sin6_addr)) {
    return INADDR_LOOPBACK;
  }
  return ntohl(address.s_addr);
}

bool is_loopback(std::uint32_t address) { return address >> 24U == IN_LOOPBACKNET; }

/// Calls `see` with each connection of this process to another host, its other end and what TCP knows of it;
/// with none where the kernel is too old to count bytes. One that is being made may wait for a queue there.
template <class See>
void each_connection(const See& see) {
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc/self/fd", error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    TcpInfo info{};
    socklen_t size = info.size();
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info.data(), &size) != 0 || size < kKnownFromSize ||
        info[kState] != TCP_ESTABLISHED)
      continue;
    if (const std::uint32_t peer = peer_of(descriptor); !is_loopback(peer)) see(peer, info);
  }
}

std::uint64_t bytes_at(const TcpInfo& info, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, &info[offset], sizeof value);
  return value;
}

}  // namespace

TcpBytes view_tcp_bytes() {
  TcpBytes bytes;
  each_connection([&bytes](std::uint32_t, const TcpInfo& info) {
    bytes.sent += bytes_at(info, kBytesSent);
    bytes.resent += bytes_at(info, kBytesResent);
  });
  return bytes;
}

Unacknowledged view_unacknowledged() {
  Unacknowledged worst;
  each_connection([&worst](std::uint32_t peer, const TcpInfo& info) {
    const std::uint32_t times = std::bit_cast<std::uint8_t>(info[kTimeouts]);
    if (times > worst.times) worst = {.address = peer, .times = times};
  });
  return worst;
}

}  // namespace collbench::launch
