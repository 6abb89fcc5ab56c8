#include "launch/rank_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "launch/flight/process_stat.hpp"

namespace collbench::launch {

namespace {

// Of a healthy network less than one packet in ten thousand is sent again, some 7 KB of a run on a busy
// machine, and now and then a burst of some packets.
constexpr double kMinResentShare = 5e-4;
constexpr std::uint64_t kMinResentBytes = 16 << 10;

std::uint64_t more(std::uint64_t before, std::uint64_t now) { return now > before ? now - before : 0; }

constexpr double kNoise = 0.1;    // cores: mpirun, the kernel's own work
constexpr double kStolen = 0.01;  // of the processor time that was asked for

/// One host's share of the time between the two readings.
struct HostLoad {
  std::string host;
  double busy_seconds = 0;  ///< of all its hardware threads
  double stolen_seconds = 0;
  double own_seconds = 0;  ///< of the ranks
  double threads = 0;
  int ranks = 0;
};

std::vector<HostLoad> host_loads(Ranks& ranks, const Identities& identities, const CpuTimes& before,
                                 const CpuTimes& after) {
  const std::vector<CpuTimes> during = all_gather_values(
      ranks, CpuTimes{.host_busy_seconds = after.host_busy_seconds - before.host_busy_seconds,
                      .stolen_seconds = after.stolen_seconds - before.stolen_seconds,
                      .own_seconds = after.own_seconds - before.own_seconds,
                      .hardware_threads = after.hardware_threads});
  std::vector<HostLoad> hosts(static_cast<std::size_t>(node_count(identities)));
  for (std::size_t rank = 0; rank < identities.size(); ++rank) {
    HostLoad& load = hosts[static_cast<std::size_t>(identities[rank].node)];
    load.host = identities[rank].host;
    load.busy_seconds = std::max(load.busy_seconds, during[rank].host_busy_seconds);
    load.stolen_seconds = std::max(load.stolen_seconds, during[rank].stolen_seconds);
    load.own_seconds += during[rank].own_seconds;
    load.threads = during[rank].hardware_threads;
    ++load.ranks;
  }
  return hosts;
}

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

std::vector<std::string> external_cpu_load(Ranks& ranks, const Identities& identities, const CpuTimes& before,
                                           const CpuTimes& after, double seconds) {
  std::vector<std::string> lines;
  for (const HostLoad& load : host_loads(ranks, identities, before, after)) {
    if (load.threads <= 0 || seconds <= 0) continue;
    const double others = (load.busy_seconds - load.own_seconds) / seconds;
    if (others > kNoise && load.ranks + others > load.threads + kNoise) {
      lines.push_back(fmt::format(
          "{}: other processes kept {:.1f} of its {:.0f} hardware threads busy during the run and "
          "competed with {}: the times include that interference",
          load.host, others, load.threads, load.ranks == 1 ? "the rank" : "the ranks"));
    }
    const double stolen = load.stolen_seconds / (load.busy_seconds + load.stolen_seconds);
    if (stolen >= kStolen) {
      lines.push_back(fmt::format(
          "{}: the hypervisor withheld {:.0f} % of the CPU time that this virtual machine asked for during "
          "the run (steal time): the times include that interference",
          load.host, stolen * 100));
    }
  }
  return lines;
}

}  // namespace collbench::launch
