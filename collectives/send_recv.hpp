#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// The ring shift of nccl-tests: rank r sends its buffer to r + 1 and receives that of r − 1.
extern const Collective kSendRecv;

}  // namespace collbench
