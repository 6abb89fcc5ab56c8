#pragma once
#include "base/error.hpp"
#include "collectives/nccl/nccl_process.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/session.hpp"
#include "src/run/hang_report.hpp"
#include "src/run/incident.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// `mpirun -np N collbench`: examines the machine, calibrates, measures, compares and reports. Collective.
/// Throws the same Error on all ranks; returns the exit status, the same on all ranks. What cuts it short
/// stands in `incidents`, and in the files of the run when they are there. `process` is of all ranks of this
/// process.
[[nodiscard]] ExitStatus run_command(const RunOptions& options, const launch::Session& session,
                                     launch::FlightRecorder& flight, RunWatch& watch, IncidentLog& incidents,
                                     collectives::NcclProcess& process);

/// Fills in which launcher started this process, as its variables say. Throws Error (usage) where they say
/// half of it.
void find_launch(RunOptions& options);

/// A run, from the start of its ranks to the exit status of this process, with what its ranks have to report
/// on stderr. Several GPUs in a process are as many ranks, each a thread. With -g and without a launcher it
/// replaces this process by mpirun's. Throws Error before MPI has started, and where this is not the launcher
/// of this MPI.
[[nodiscard]] int start_run(const RunOptions& options, int argc, char** argv);

}  // namespace collbench::program
