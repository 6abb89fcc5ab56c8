#pragma once
#include "launch/ranks.hpp"
#include "launch/watchdog.hpp"
#include "src/run_options.hpp"

namespace collbench {

/// Ends this process when a step takes longer than --timeout. Rank 0 speaks, unless it is the one that hangs.
/// `options` must outlive it.
[[nodiscard]] Watchdog watch_for_stalls(const RunOptions& options, const Ranks& ranks);

}  // namespace collbench
