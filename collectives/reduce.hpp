#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// The root gets the reduction over the buffers of all ranks. S is one rank's buffer.
extern const Collective kReduce;

}  // namespace collbench
