#pragma once
#include <vector>

#include "collectives/collective.hpp"

namespace collbench {

/// The operations that can be measured, in the order of a default run.
[[nodiscard]] const std::vector<const Collective*>& collectives();

/// The operation with this id. Throws Error (not_here) for one that is only imported.
[[nodiscard]] const Collective& collective(OperationId id);

}  // namespace collbench
