#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// Every rank gets its part of the root's buffer, in order of rank. S is the root's send buffer.
extern const Collective kScatter;

}  // namespace collbench
