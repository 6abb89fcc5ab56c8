#include "launch/rank_use.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "launch/real_machine.hpp"

namespace collbench::launch {
namespace {

// Of struct tcp_info in the kernel's <linux/tcp.h>, which is only ever appended to. Its declaration cannot be
// used: glibc's own in <netinet/tcp.h> has the same name and ends before these.
constexpr std::size_t kBytesSent = 200;      // tcpi_bytes_sent
constexpr std::size_t kBytesResent = 208;    // tcpi_bytes_retrans
constexpr std::size_t kKnownFromSize = 216;  // an older kernel fills less

/// Adds what a connection sent; nothing where `descriptor` is no TCP socket, or the kernel is too old to
/// count.
void add_connection(int descriptor, RankUse& use) {
  std::array<char, 512> info{};
  socklen_t size = info.size();
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info.data(), &size) != 0 || size < kKnownFromSize)
    return;
  const auto at = [&info](std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, &info[offset], sizeof value);
    return value;
  };
  use.tcp_sent_bytes += at(kBytesSent);
  use.tcp_resent_bytes += at(kBytesResent);
}

// Of a healthy network less than one packet in ten thousand is sent again, and now and then a burst of some.
constexpr double kMinResentShare = 5e-4;
constexpr std::uint64_t kMinResentBytes = 64 << 10;

std::uint64_t more(std::uint64_t before, std::uint64_t now) { return now > before ? now - before : 0; }

}  // namespace

RankUse view_rank_use() {
  RankUse use;
  if (time_is_simulated()) return use;  // the ranks share a process
  if (const auto core = view_core_seconds()) {
    use.ran_seconds = core->ran;
    use.waited_seconds = core->waited;
  }
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc/self/fd", error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (descriptor >= 0) add_connection(descriptor, use);
  }
  return use;
}

RankUse rank_use_since(const RankUse& before, const RankUse& now) {
  return {std::max(0.0, now.ran_seconds - before.ran_seconds),
          std::max(0.0, now.waited_seconds - before.waited_seconds),
          more(before.tcp_sent_bytes, now.tcp_sent_bytes),
          more(before.tcp_resent_bytes, now.tcp_resent_bytes)};
}

std::vector<RankUse> gather_rank_use(Ranks& ranks, const RankUse& before) {
  return gather_values(ranks, rank_use_since(before, view_rank_use()));
}

std::vector<std::string> lost_packets(const std::vector<RankUse>& uses, const Identities& identities) {
  std::vector<std::string> lines;
  for (std::size_t rank = 0; rank < uses.size(); ++rank) {
    const RankUse& use = uses[rank];
    if (use.tcp_resent_bytes < kMinResentBytes) continue;
    const double share = static_cast<double>(use.tcp_resent_bytes) / static_cast<double>(use.tcp_sent_bytes);
    if (share < kMinResentShare) continue;
    lines.push_back(fmt::format(
        "rank {} ({}) retransmitted {:.2g} % of its TCP bytes: packets that it sent were dropped on the way, "
        "or came too late; look at that link before any rank (ip -s link, ethtool -S, nstat)",
        rank, identities[rank].host, 100 * share));
  }
  return lines;
}

}  // namespace collbench::launch
