#pragma once
#include <mpi.h>

namespace collbench {

/// Called by all ranks of `communicator` when they come out of a barrier. They do so at different moments; on
/// real machines nothing can be done about that, as their clocks differ more than the moments do. In the
/// simulator all clocks are one, and the ranks go on at the same moment (leave_together_smpi.cpp): what is
/// timed after a barrier is then the operation alone.
void leave_together(MPI_Comm communicator);

}  // namespace collbench
