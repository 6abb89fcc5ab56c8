#pragma once
#include <string>
#include <vector>

#include "topology/doctor/evidence.hpp"

namespace collbench::topology {

/// What is known of one of several jobs: its lines of NCCL's logs, and all that the machine says.
struct JobEvidence {
  std::string name;  ///< where its lines are: "a.log", "a.log:13-96", "rank0.log and 7 more files"
  Evidence evidence;
};

/// The jobs whose logs are among the evidence; empty where these are of one, or none names a communicator.
/// Processes are of one job when they share a communicator, by the hash that NCCL 2.18 and newer write in
/// each rank's "Init START" and "Init COMPLETE". What no process of NCCL wrote is of the job in whose lines
/// it stands; a log that names no communicator is of no job but its own. Throws Error (usage) for a log of
/// more jobs than anybody would read.
[[nodiscard]] std::vector<JobEvidence> jobs_in(const Evidence& evidence);

}  // namespace collbench::topology
