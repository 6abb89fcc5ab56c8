#include "launch/rank_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "launch/flight/tcp_connections.hpp"
#include "launch/real_machine.hpp"

namespace collbench::launch {
namespace {

// Of a healthy network less than one packet in ten thousand is sent again, some 7 KB of a run on a busy
// machine, and now and then a burst of some packets.
constexpr double kMinResentShare = 5e-4;
constexpr std::uint64_t kMinResentBytes = 16 << 10;

std::uint64_t more(std::uint64_t before, std::uint64_t now) { return now > before ? now - before : 0; }

}  // namespace

RankUse view_rank_use() {
  RankUse use;
  if (time_is_simulated()) return use;  // the ranks share a process
  if (const auto core = view_core_seconds()) {
    use.ran_seconds = core->ran;
    use.waited_seconds = core->waited;
  }
  const TcpBytes bytes = view_tcp_bytes();
  use.tcp_sent_bytes = bytes.sent;
  use.tcp_resent_bytes = bytes.resent;
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
    lines.push_back(
        fmt::format("rank {} ({}) retransmitted {:.2g} % of its TCP bytes: packets that it sent, or their "
                    "acknowledgments, were dropped or delayed on the way, or their receiver read too late; "
                    "check the links of that host (ip -s link, ethtool -S, nstat)",
                    rank, identities[rank].host, 100 * share));
  }
  return lines;
}

}  // namespace collbench::launch
