#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/record/run.hpp"
#include "base/record/traffic_matrix.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/nccl/gpu_choice.hpp"
#include "collectives/nccl/nccl_process.hpp"
#include "launch/collective_wait.hpp"
#include "launch/session.hpp"
#include "src/run/context.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// The GPUs that a run works on; nothing on host memory.
struct RunGpus {
  std::vector<collectives::VisibleGpu> by_rank;
  bool are_shared = false;  ///< by ranks: nothing about speed can be said
};

/// What measures, and what it found out about the memory that it measures on.
struct RunBackend {
  std::unique_ptr<collectives::Backend> backend;
  std::uint64_t memory_per_rank_bytes = 0;  ///< of the kind that the backend uses; 0: unknown
  RunGpus gpus;
  /// NcclBackend::measure_among; none on host memory.
  std::function<void(const launch::CollectiveWait& some)> measure_among;
  std::function<std::optional<GpuMemory>()> memory_use;  ///< NcclBackend::memory_use; none without -M
};

/// Makes it; `process` is of all ranks of this process. Collective. Throws the same Error on all ranks where
/// GPUs are asked for and cannot be used.
[[nodiscard]] RunBackend make_backend(const RunOptions& options, const launch::Session& session,
                                      const launch::CollectiveWait& waiter, const RunContext& context,
                                      const TrafficMatrix& traffic, launch::CallCounters counters,
                                      collectives::NcclProcess& process);

}  // namespace collbench::program
