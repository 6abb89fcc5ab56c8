#pragma once
#include <vector>

#include "collectives/collective.hpp"

namespace collbench {

/// The operations that can be measured, in the order in which --ops all shows them.
[[nodiscard]] const std::vector<const Collective*>& collectives();

/// Those of a run that does not say: AllReduce, AllGather, ReduceScatter, AllToAll, SendRecv.
[[nodiscard]] std::vector<OperationId> usual_operations();

/// The operation with this id. Throws Error (not_here) for one that is only imported.
[[nodiscard]] const Collective& collective(OperationId id);

}  // namespace collbench
