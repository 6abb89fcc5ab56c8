#pragma once
#include <vector>

#include "tools/burnin/attribution/blame.hpp"

// Whose processors others keep busy: its pairs are slow and scatter on every rail, and no link is to blame.

namespace collbench::analysis {

/// A host that others keep busy.
struct BusyHost {
  int node = 0;
  double had_core = 0;  ///< share of the time in which its ranks could run, median of its launches
  double usual = 0;     ///< the same of the median host
  int launches = 0;
};

/// Each host whose ranks, in the median of its launches, could run and had no core for more than half of that
/// time, and were given less than half of the share that the median host's ranks were. Nobody where fewer
/// than four hosts say so.
[[nodiscard]] std::vector<BusyHost> busy_hosts(const PairTable& table);

/// Without the times of these hosts: what they take says nothing of a link, and nothing of others' scatter.
[[nodiscard]] PairTable without_hosts(const PairTable& table, const std::vector<BusyHost>& busy);

/// Adds a finding for each of them, and makes it suspect.
void judge_busy_hosts(const PairTable& table, const std::vector<BusyHost>& busy, Attribution& found);

}  // namespace collbench::analysis
