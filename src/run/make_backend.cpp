#include "src/run/make_backend.hpp"

#include "base/error.hpp"
#include "collectives/mpi/mpi_backend.hpp"
#include "collectives/nccl/nccl_backend.hpp"
#include "launch/launcher.hpp"
#include "launch/real_machine.hpp"

namespace collbench::program {

std::unique_ptr<collectives::Backend> make_backend(const RunOptions& options,
                                                   const launch::MpiSession& session,
                                                   const launch::CollectiveWait& waiter, RunContext& place,
                                                   const TrafficMatrix& traffic) {
  if (!place.on_gpus) return std::make_unique<collectives::MpiBackend>(session.clock(), traffic);
  if (launch::time_is_simulated()) {
    throw Error(ExitStatus::not_here, "--backend nccl", "there are no GPUs in simulated time",
                "leave it out, or run collbench instead of collbench-smpi");
  }
  auto gpus = std::make_unique<collectives::NcclBackend>(
      waiter, place.machines,
      collectives::NcclOptions{.share_gpu = options.share_gpu,
                               .inside_slurm = launch::inside_slurm(),
                               .operations = options.request.operations,
                               .algorithms = options.request.algorithms,
                               .operations_per_group = options.loop.fixed.per_group,
                               .traffic = traffic,
                               .graph_launches = options.graph_launches});
  place.memory_per_rank_bytes = gpus->gpu().free_bytes;
  place.gpus = gpus->gpu().gpus;
  place.gpus_are_shared = gpus->gpu().shared;
  return gpus;
}

}  // namespace collbench::program
