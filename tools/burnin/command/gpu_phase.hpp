#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tools/burnin/attribution/gpu_phase.hpp"
#include "tools/burnin/command/launches.hpp"
#include "tools/burnin/command/options.hpp"

namespace collbench::program {

/// `collbench probe` of a host's GPUs, by the launcher of groups.
[[nodiscard]] std::vector<std::string> gpu_command(const BurninOptions& options, int node);

/// About how long a probe of a host's GPUs takes; how many it has is not known.
[[nodiscard]] double gpu_phase_seconds(const BurninOptions& options);

/// Probes each of `nodes` that is not in the record yet, as many at the same time as --parallel allows, and
/// adds what came of it; hosts without GPUs are failures where others have some, and else the phase is left
/// out. `before_each` batch says whether there is time for it; without, that is noted.
void measure_gpus(const BurninOptions& options, const std::vector<int>& nodes, analysis::BurninRecord& record,
                  const std::function<bool()>& before_each);

}  // namespace collbench::program
