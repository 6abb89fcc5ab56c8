#include "src/run/make_backend.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "collectives/mpi/mpi_library.hpp"
#include "collectives/nccl/nccl_backend.hpp"
#include "launch/agreement.hpp"
#include "launch/launcher.hpp"
#include "launch/real_machine.hpp"

namespace collbench::program {

namespace {

/// 0 where no Step is measured.
int step_matrix_of(const RunOptions& options) {
  const auto& measured = options.request.operations;
  const bool has_step = std::ranges::find(measured, OperationId::step) != measured.end();
  return has_step ? options.step_matrix : 0;
}

}  // namespace

RunBackend make_backend(const RunOptions& options, const launch::Session& session,
                        const launch::CollectiveWait& waiter, const RunContext& context,
                        const TrafficMatrix& traffic, launch::CallCounters counters,
                        collectives::NcclProcess& process) {
  if (context.memory == collectives::MemoryKind::host) {
    return {.backend = collectives::mpi_library().functions->make_backend(
                session.clock(), traffic, counters, options.request.buffers, step_matrix_of(options)),
            .memory_per_rank_bytes = context.host_memory_per_rank_bytes,
            .gpus = {},
            .measure_among = nullptr,
            .memory_use = nullptr};
  }
  launch::agreed(session.ranks(), context.host, [] {
    if (!launch::time_is_simulated()) return;
    throw Error(ExitStatus::not_here, "--backend nccl", "there are no GPUs in simulated time",
                "leave it out, or run collbench instead of collbench-smpi");
  });
  auto nccl = std::make_unique<collectives::NcclBackend>(
      waiter, process, context.machines, counters.calls,
      collectives::NcclOptions{.share_gpu = options.share_gpu,
                               .inside_slurm = launch::inside_slurm(),
                               .request = options.request,
                               .operations_per_group = options.loop.fixed.per_group,
                               .traffic = traffic,
                               .graph_launches = options.graph_launches,
                               .registration = options.registration,
                               .settings = options.nccl_config,
                               .call_wait = options.call_wait,
                               .hot = options.hot,
                               .memory = options.memory_use});
  const std::uint64_t free_bytes = nccl->gpu().free_bytes;
  RunGpus gpus{.by_rank = nccl->gpu().gpus, .are_shared = nccl->gpu().shared};
  collectives::NcclBackend& backend = *nccl;
  return {.backend = std::move(nccl),
          .memory_per_rank_bytes = free_bytes,
          .gpus = std::move(gpus),
          .measure_among = [&backend](const launch::CollectiveWait& some) { backend.measure_among(some); },
          .memory_use = options.memory_use ? [&backend] { return backend.memory_use(); }
                                           : std::function<std::optional<GpuMemory>()>()};
}

}  // namespace collbench::program
