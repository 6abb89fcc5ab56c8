#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// Every rank gets the root's buffer, the root included. S is that buffer.
extern const Collective kBroadcast;

}  // namespace collbench
