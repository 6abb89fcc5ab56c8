#include "launch/align_barrier_exit.hpp"

namespace collbench::launch {

void align_barrier_exit(Ranks& /*ranks*/, double /*now_seconds*/) {}

}  // namespace collbench::launch
