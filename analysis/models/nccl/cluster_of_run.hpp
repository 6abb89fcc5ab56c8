#pragma once
#include <string>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// `cluster` with what the run's own log tells (Run::log): how it was launched, what carried its bytes
/// between nodes, NCCL's algorithm where all its lines of 64 MiB and more name one, channels and NVLinks as
/// NCCL saw them. `own_floor`: also its own quickest time of at most 1 KiB, in the place of the modeled
/// floor.
[[nodiscard]] GpuCluster with_run_facts(GpuCluster cluster, const Run& run, bool own_floor);

/// The machine with the GPUs that the run's log names, where its own texts name none (nvidia-smi topo -m).
[[nodiscard]] topology::ResolvedMachine with_gpus_of_log(topology::ResolvedMachine machine, const Run& run);

/// The cluster of a run on nodes like `machine`, with the facts of its log. Throws Error
/// (usage) for a run on host memory, where nodes have different numbers of ranks, and where an imported log
/// does not say on how many nodes it ran. `where` names the run in it.
[[nodiscard]] GpuCluster cluster_of_run(const Run& run, const topology::ResolvedMachine& machine,
                                        const std::string& where, bool own_floor);

}  // namespace collbench::analysis
