#pragma once
#include "launch/ranks.hpp"

namespace collbench::launch {

/// Called by all ranks as they come out of a barrier, each with what its clock says. They come out at
/// different moments; on real machines nothing can be done about that, as their clocks differ more than the
/// moments do. In the simulator all clocks are one, and the ranks go on at the same moment
/// (leave_together_smpi.cpp): what is timed after a barrier is then the operation alone.
void align_barrier_exit(Ranks& ranks, double now_seconds);

}  // namespace collbench::launch
