#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// Every rank gets the buffers of all ranks, in order of rank. S is the whole receive buffer.
extern const Collective kAllGather;

}  // namespace collbench
