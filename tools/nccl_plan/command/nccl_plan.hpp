#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tools/nccl_plan/report/report.hpp"

namespace collbench::program {

/// What `collbench nccl-plan` was asked.
struct NcclPlanRequest {
  std::string topology;
  int nodes = 0;           ///< 0: as many as the topology has
  std::string odd_node;    ///< the machine of the last node; empty: like the others
  int ranks_per_node = 0;  ///< 0: one for each GPU
  std::string library;     ///< empty: the one that a run takes
  std::string versus;      ///< another libnccl, or NAME=VALUE; empty: nothing to compare with
  bool advice = false;     ///< try the settings of nccl_trials(), too
  std::vector<OperationId> operations{};
  std::vector<std::uint64_t> sizes{};
};

/// Runs the host code of a libnccl over a simulated CUDA (docs/nccl.md), once more for
/// each that it is compared with. Throws Error: usage for what was asked, and in NCCL's own words where it
/// refuses the machine; not_here where the library cannot be used so.
[[nodiscard]] analysis::NcclPlanReport nccl_plan_report(const NcclPlanRequest& request);

}  // namespace collbench::program
