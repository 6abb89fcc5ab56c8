#include "tools/burnin/attribution/blame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/statistics.hpp"
#include "tools/burnin/attribution/blame_words.hpp"

namespace collbench::analysis {
namespace {

constexpr double kMuch = 0.5;

bool is_busy(const std::vector<BusyHost>& busy, int node) {
  return std::ranges::any_of(busy, [node](const BusyHost& host) { return host.node == node; });
}

}  // namespace

std::vector<BusyHost> busy_hosts(const PairTable& table) {
  std::vector<std::vector<double>> had_core(table.nodes.size());  // of each launch
  for (const RailTime& time : table.times) {
    if (time.waited) had_core[slot_of(time.from)].push_back(1 - *time.waited);
  }
  std::vector<double> medians;
  for (const std::vector<double>& launches : had_core) {
    if (!launches.empty()) medians.push_back(median(launches));
  }
  if (medians.size() <= slot_of(kMinPartners)) return {};  // too few to say what is usual
  const double usual = median(medians);
  std::vector<BusyHost> busy;
  for (std::size_t node = 0; node < had_core.size(); ++node) {
    if (had_core[node].empty()) continue;
    const double share = median(had_core[node]);
    if (share < 1 - kMuch && share < kMuch * usual)
      busy.push_back({static_cast<int>(node), share, usual, static_cast<int>(had_core[node].size())});
  }
  return busy;
}

PairTable without_hosts(const PairTable& table, const std::vector<BusyHost>& busy) {
  PairTable rest = table;
  std::erase_if(rest.times,
                [&busy](const RailTime& time) { return is_busy(busy, time.from) || is_busy(busy, time.to); });
  return rest;
}

void judge_busy_hosts(const PairTable& table, const std::vector<BusyHost>& busy, Attribution& found) {
  for (const BusyHost& host : busy) {
    const std::string& who = table.nodes[slot_of(host.node)];
    Blame blame{
        .kind = BlameKind::busy,
        .nodes = {host.node},
        .measure = fmt::format("its ranks had a core for {:.0f} % of the time in which they could run",
                               100 * host.had_core),
        .evidence = fmt::format("other programs keep the cores of {} busy: in {} launches its ranks had a "
                                "core for {:.0f} % of the time in which they could run, those of the median "
                                "host for {:.0f} %; what its links carry is not known until it is idle",
                                who, host.launches, 100 * host.had_core, 100 * host.usual),
        .next = technician_step(BlameKind::busy, who, std::nullopt)};
    found.nodes[slot_of(host.node)] = {host.node, Bucket::suspect, "busy: " + blame.evidence};
    found.blames.push_back(std::move(blame));
  }
}

}  // namespace collbench::analysis
