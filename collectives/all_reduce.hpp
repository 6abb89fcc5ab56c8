#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// Every rank gets the reduction of all ranks' buffers.
extern const Collective kAllReduce;

}  // namespace collbench
