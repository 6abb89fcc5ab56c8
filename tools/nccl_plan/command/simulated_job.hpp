#pragma once
#include <string>
#include <vector>

#include "tools/nccl_plan/command/nccl_plan.hpp"

// `collbench nccl-plan run`: the main job over simulated GPUs.

namespace collbench::program {

/// The command line that `given` becomes. `collbench` is the one beside this program; a run of it gets the
/// ranks, their nodes and the backend where it does not name its own. Another program, or another command of
/// collbench's, starts its ranks itself and stays as it is. Empty: a short run.
[[nodiscard]] std::vector<std::string> job_words(std::vector<std::string> given, int nodes,
                                                 int ranks_per_node);

/// Replaces this process by the program, with the variables of docs/notes/gpu-simulated.md in its
/// environment: signals and the exit status are thus the program's own. The machine's topologies are in
/// memory that this process holds, so that nothing stays behind. Throws Error: as nccl_plan_report for the
/// machine and the library; usage where the program cannot be started.
[[noreturn]] void become_simulated_job(const NcclPlanRequest& request,
                                       const std::vector<std::string>& program);

}  // namespace collbench::program
