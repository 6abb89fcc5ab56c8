#pragma once
#include <string_view>

#include "base/error.hpp"
#include "launch/mpi_session.hpp"
#include "launch/ranks.hpp"
#include "launch/watchdog.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// How ranks' times became one, as records write it: "max", "avg", "min" or "rank 0".
[[nodiscard]] std::string_view rank_aggregate_name(launch::RankAggregate how);

/// `mpirun -np N collbench`: gathers the context, calibrates, measures, compares and reports. Collective.
/// Throws the same Error on all ranks; returns the exit status, the same on all ranks.
[[nodiscard]] ExitStatus run_command(const RunOptions& options, const launch::MpiSession& session,
                                     launch::Watchdog& watchdog);

}  // namespace collbench::program
