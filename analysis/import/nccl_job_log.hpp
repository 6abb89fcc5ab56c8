#pragma once
#include <span>

#include "analysis/import/nccl_debug_log.hpp"
#include "base/record/nccl_plan.hpp"

namespace collbench::analysis {

/// The logs of all ranks put together: `logs` by rank, of `ranks_per_node` consecutive ranks to a node. Rows,
/// machine, library and settings are the caller's. Throws Error (not_here) where no log says that a
/// communicator was made, or one of the ranks said nothing.
[[nodiscard]] NcclPlan nccl_plan_of(std::span<const NcclRankLog> logs, int ranks_per_node);

}  // namespace collbench::analysis
