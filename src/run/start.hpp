#pragma once
#include <string>
#include <vector>

#include "base/error.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/session.hpp"
#include "src/run/hang_report.hpp"
#include "src/run/incident.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// `mpirun -np N collbench`: examines the machine, calibrates, measures, compares and reports. Collective.
/// Throws the same Error on all ranks; returns the exit status, the same on all ranks. What cuts it short
/// stands in `incidents`, and in the files of the run when they are there.
[[nodiscard]] ExitStatus run_command(const RunOptions& options, const launch::Session& session,
                                     launch::FlightRecorder& flight, RunWatch& watch, IncidentLog& incidents);

/// Fills in which launcher started this process, as its variables say. Throws Error (usage) where they say
/// half of it.
void find_launch(RunOptions& options);

/// A run, from the start of its ranks to the exit status of this process, with what this rank has to report
/// on stderr. With -g and without a launcher it replaces this process by mpirun's. Throws Error before MPI
/// has started, and where this is not the launcher of this MPI.
[[nodiscard]] int start_run(const RunOptions& options, int argc, char** argv);

/// nccl-tests' -t T -g G under MPI's launcher: each process that it launched starts T × G ranks on its host,
/// one for a GPU, as processes of `words` (collbench and its options). MPI only says where they meet; what
/// they tell each other goes over sockets (launch::find_rendezvous). Waits for them. Returns the worst of
/// their exit statuses. Collective over the launched processes. Throws Error.
[[nodiscard]] int start_ranks_of_process(int ranks, const std::vector<std::string>& words);

}  // namespace collbench::program
