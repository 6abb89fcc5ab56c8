#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace collbench::program {

/// Which rank or host a launch lost, how, and where it was, from what its launcher and its ranks wrote to
/// stderr: "rank 1 on node1 was killed by signal 9 (Killed) inside AllReduce 64 KiB, call 1, pass 25". Of
/// Open MPI's mpirun and Slurm's srun; none where they named none.
[[nodiscard]] std::optional<std::string> lost_rank(std::string_view launch_stderr);

}  // namespace collbench::program
