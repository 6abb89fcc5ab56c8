#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// Rank r gets block r of the reduction of all ranks' buffers. S is the whole send buffer.
extern const Collective kReduceScatter;

}  // namespace collbench
