#pragma once
#include "launch/watchdog.hpp"
#include "src/options/run_options.hpp"

namespace collbench::program {

/// Ends this process when a step takes longer than --timeout; the first is the start of MPI, for which it is
/// made before MPI_Init. Rank 0 speaks, unless it is the one that hangs. `options` must outlive it.
[[nodiscard]] launch::Watchdog watch_for_stalls(const RunOptions& options, bool is_root);

}  // namespace collbench::program
