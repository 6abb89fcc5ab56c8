#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "base/record/identities.hpp"
#include "base/record/telemetry.hpp"
#include "collectives/nccl/gpu_choice.hpp"
#include "launch/ranks.hpp"
#include "topology/telemetry_log.hpp"

namespace collbench {

/// What the hosts saw of the GPUs that ranks work on.
struct GatheredTelemetry {
  Telemetry telemetry;
  std::map<std::size_t, std::vector<RowMark>> marks;  ///< by row
};

/// Puts the logs of all hosts together, on rank 0; empty on the others. Collective. `log` is null where a
/// rank is not the first of its host. `gpus` are those of the ranks, by rank.
[[nodiscard]] GatheredTelemetry gather_telemetry(Ranks& ranks, const Identities& machines,
                                                 const std::vector<VisibleGpu>& gpus,
                                                 const TelemetryLog* log);

}  // namespace collbench
