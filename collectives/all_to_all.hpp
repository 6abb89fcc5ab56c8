#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// Rank r gets block r of every rank's buffer, in order of rank. S is one rank's whole buffer.
extern const Collective kAllToAll;

}  // namespace collbench
