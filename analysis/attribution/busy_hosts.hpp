#pragma once
#include "analysis/attribution/blame.hpp"

// Whose processors others keep busy: its pairs are slow on every rail, or their launches time out, and no
// link is to blame.

namespace collbench::analysis {

/// Names each host whose ranks, in the median of its launches, could run and had no core for more than half
/// of that time, and were given less than half of the share that the median host's ranks were. What was
/// found of its own links, and of paths that end there, is taken back: they are not known while it is busy,
/// and it is suspect for that. Confirmed where launches alone with two partners say so too.
void judge_busy_hosts(const PairTable& table, Attribution& found);

}  // namespace collbench::analysis
