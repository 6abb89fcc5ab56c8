#pragma once
#include "base/error.hpp"
#include "launch/mpi_session.hpp"
#include "launch/watchdog.hpp"
#include "src/run_options.hpp"

namespace collbench {

/// `mpirun -np N collbench`: looks at the place, calibrates, measures, compares and reports. Collective.
/// Throws the same Error on all ranks; returns the exit status, the same on all ranks.
[[nodiscard]] ExitStatus run_command(const RunOptions& options, const MpiSession& session,
                                     Watchdog& watchdog);

}  // namespace collbench
