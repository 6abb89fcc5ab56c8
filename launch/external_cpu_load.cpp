#include "launch/external_cpu_load.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace collbench::launch {
namespace {

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
