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
constexpr std::size_t kTimeouts = 2;         // tcpi_retransmits, one byte: in a row
constexpr std::size_t kBytesSent = 200;      // tcpi_bytes_sent
constexpr std::size_t kBytesResent = 208;    // tcpi_bytes_retrans
constexpr std::size_t kKnownFromSize = 216;  // an older kernel fills less

using TcpInfo = std::array<char, 512>;

/// Calls `see` with each TCP socket of this process; with none where the kernel is too old to count bytes.
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
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info.data(), &size) == 0 && size >= kKnownFromSize)
      see(descriptor, info);
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
  each_connection([&bytes](int, const TcpInfo& info) {
    bytes.sent += bytes_at(info, kBytesSent);
    bytes.resent += bytes_at(info, kBytesResent);
  });
  return bytes;
}

Unacknowledged view_unacknowledged() {
  Unacknowledged worst;
  each_connection([&worst](int descriptor, const TcpInfo& info) {
    const std::uint32_t times = std::bit_cast<std::uint8_t>(info[kTimeouts]);
    if (times <= worst.times) return;
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    auto* const any = reinterpret_cast<sockaddr*>(&peer);  // NOLINT(*-reinterpret-cast)
    const bool is_known = ::getpeername(descriptor, any, &size) == 0 && peer.sin_family == AF_INET;
    worst = {.address = is_known ? ntohl(peer.sin_addr.s_addr) : 0, .times = times};
  });
  return worst;
}

}  // namespace collbench::launch
