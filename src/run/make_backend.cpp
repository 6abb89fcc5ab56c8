#include "src/run/make_backend.hpp"

#include "base/error.hpp"
#include "collectives/mpi/mpi_backend.hpp"
#include "collectives/nccl/nccl_backend.hpp"
#include "launch/launcher.hpp"
#include "launch/real_machine.hpp"

namespace collbench {

std::unique_ptr<Backend> make_backend(const RunOptions& options, const MpiSession& session,
                                      const Together& together, RunPlace& place,
                                      const TrafficMatrix& traffic) {
  if (!place.on_gpus) return std::make_unique<MpiBackend>(session.clock(), traffic);
  if (time_is_simulated()) {
    throw Error(ExitStatus::not_here, "--backend nccl", "there are no GPUs in simulated time",
                "leave it out, or run collbench itself");
  }
  auto gpus = std::make_unique<NcclBackend>(together, place.machines,
                                            NcclOptions{.share_gpu = options.share_gpu,
                                                        .inside_slurm = inside_slurm(),
                                                        .operations = options.request.operations,
                                                        .algorithms = options.request.algorithms,
                                                        .operations_per_group = options.sweep.fixed.per_group,
                                                        .traffic = traffic,
                                                        .graph_launches = options.graph_launches});
  place.memory_per_rank_bytes = gpus->gpu().free_bytes;
  place.gpus = gpus->gpu().gpus;
  place.gpus_are_shared = gpus->gpu().shared;
  return gpus;
}

}  // namespace collbench
