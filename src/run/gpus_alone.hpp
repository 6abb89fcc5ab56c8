#pragma once
#include <string>
#include <vector>

#include "base/record/identities.hpp"
#include "base/record/probe.hpp"
#include "collectives/nccl/gpu_choice.hpp"
#include "launch/collective_wait.hpp"

// What only a load shows of GPUs, before and behind the rows of a run that is to accept them: each GPU alone,
// by `collbench probe`, which is a program of its own.

namespace collbench::program {

/// The first note of a probe's record until its end.
inline constexpr const char* kUnfinishedProbe = "not finished: the probe goes on, or was killed";

/// `collbench probe` of this host's GPUs: `work_seconds` is its --time, `soak_seconds` its --soak (0: none).
[[nodiscard]] std::vector<std::string> gpu_probe_command(double work_seconds, double soak_seconds);

/// About how long that takes on a host of 8 GPUs (gpu_probe_seconds of collbench probe).
[[nodiscard]] double gpu_probe_command_seconds(double work_seconds, double soak_seconds);

/// Of each host what its first rank's probe says of the GPUs of its ranks, in about `seconds`, on rank 0; of
/// one that did not come to its end what it had measured, and of a host that it said nothing of a record
/// without GPUs: their notes say why. Empty on the others. `gpus` are
/// those of the ranks, by rank. Collective: ranks sleep most of the time.
[[nodiscard]] std::vector<ProbeRecord> probe_gpus(const launch::CollectiveWait& waiter,
                                                  const Identities& machines,
                                                  const std::vector<collectives::VisibleGpu>& gpus,
                                                  double seconds);

}  // namespace collbench::program
