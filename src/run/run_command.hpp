#pragma once
#include "base/error.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/mpi_session.hpp"
#include "src/run/hang_report.hpp"
#include "src/run/incident.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// `mpirun -np N collbench`: examines the machine, calibrates, measures, compares and reports. Collective.
/// Throws the same Error on all ranks; returns the exit status, the same on all ranks. What cuts it short
/// stands in `incidents`, and in the files of the run when they are there.
[[nodiscard]] ExitStatus run_command(const RunOptions& options, const launch::MpiSession& session,
                                     launch::FlightRecorder& flight, RunWatch& watch, IncidentLog& incidents);

}  // namespace collbench::program
