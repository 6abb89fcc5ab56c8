#include "launch/flight/process_stat.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/files.hpp"
#include "base/text_input.hpp"

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
  for (const std::filesystem::path& entry : entries_of("/proc/self/fd", error)) {
    const int descriptor = whole_number<int>(entry.filename().string()).value_or(-1);
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

std::optional<ProcessStat> process_stat(const std::string& line) {
  constexpr int kFieldsBetween = 17;  // from the parent, field 4, to the start, field 22
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  ProcessStat stat{.name = line.substr(open + 1, close - open - 1)};
  std::istringstream fields(line.substr(close + 1));
  fields >> stat.state >> stat.parent;
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  fields >> stat.start_ticks;
  return fields ? std::optional(stat) : std::nullopt;
}

std::optional<ProcessStat> process_stat(int pid) {
  return process_stat(first_line(fmt::format("/proc/{}/stat", pid)));
}

ProcessState process_state(int pid, std::uint64_t start_ticks) {
  const auto stat = process_stat(pid);
  if (!stat && (::kill(pid, 0) == 0 || errno != ESRCH)) return ProcessState::unknown;
  if (!stat || stat->start_ticks != start_ticks || stat->state == 'Z' || stat->state == 'X')
    return ProcessState::gone;
  return stat->state == 'T' || stat->state == 't' ? ProcessState::stopped : ProcessState::running;
}

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
