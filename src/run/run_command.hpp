#pragma once
#include <atomic>

#include "base/error.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/mpi_session.hpp"
#include "src/run/hang_report.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// `mpirun -np N collbench`: examines the machine, calibrates, measures, compares and reports. Collective.
/// Throws the same Error on all ranks; returns the exit status, the same on all ranks. `begun` becomes true
/// when the files of the run are there and its first row begins.
[[nodiscard]] ExitStatus run_command(const RunOptions& options, const launch::MpiSession& session,
                                     launch::FlightRecorder& flight, RunWatch& watch,
                                     std::atomic<bool>& begun);

}  // namespace collbench::program
