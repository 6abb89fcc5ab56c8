#include "launch/align_barrier_exit.hpp"

namespace collbench::launch {

void leave_together(Ranks& /*ranks*/, double /*now_seconds*/) {}

}  // namespace collbench::launch
