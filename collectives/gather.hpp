#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// The root gets the buffers of all ranks, in order of rank. S is its receive buffer.
extern const Collective kGather;

}  // namespace collbench
