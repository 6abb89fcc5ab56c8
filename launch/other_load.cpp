#include "launch/other_load.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace collbench {
namespace {

constexpr double kNoise = 0.1;  // cores: mpirun, the kernel's own work

/// One host's share of the time between the looks.
struct HostLoad {
  std::string host;
  double busy_seconds = 0;  ///< of all its hardware threads
  double own_seconds = 0;   ///< of the ranks
  double threads = 0;
  int ranks = 0;
};

}  // namespace

std::vector<std::string> other_load(Ranks& ranks, const Identities& identities, const CpuTimes& before,
                                    const CpuTimes& after, double seconds) {
  const std::vector<double> busy =
      all_gather_values(ranks, after.host_busy_seconds - before.host_busy_seconds);
  const std::vector<double> own = all_gather_values(ranks, after.own_seconds - before.own_seconds);
  const std::vector<double> threads = all_gather_values(ranks, after.hardware_threads);
  std::vector<HostLoad> hosts(static_cast<std::size_t>(node_count(identities)));
  for (std::size_t rank = 0; rank < identities.size(); ++rank) {
    HostLoad& load = hosts[static_cast<std::size_t>(identities[rank].node)];
    load.host = identities[rank].host;
    load.busy_seconds = std::max(load.busy_seconds, busy[rank]);
    load.own_seconds += own[rank];
    load.threads = threads[rank];
    ++load.ranks;
  }
  std::vector<std::string> lines;
  for (const HostLoad& load : hosts) {
    const double others = (load.busy_seconds - load.own_seconds) / seconds;
    if (load.threads <= 0 || seconds <= 0 || load.ranks + others <= load.threads + kNoise) continue;
    lines.push_back(
        fmt::format("{}: other processes kept {:.1f} of its {:.0f} hardware threads busy during the run, and "
                    "{} took turns with them: the times hold that, too",
                    load.host, others, load.threads, load.ranks == 1 ? "the rank" : "ranks"));
  }
  return lines;
}

}  // namespace collbench
