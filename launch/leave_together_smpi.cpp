// The simulator's side of launch/leave_together.hpp.
#include "launch/leave_together.hpp"

#include <simgrid/s4u/Actor.hpp>

#include "launch/mpi_check.hpp"

namespace collbench {

void leave_together(MPI_Comm communicator) {
  const double now = MPI_Wtime();
  double last = 0;
  check_mpi(MPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, communicator), "MPI_Allreduce");
  // Later than anybody leaves the reduction, which takes simulated microseconds.
  constexpr double kSeconds = 10e-3;
  simgrid::s4u::this_actor::sleep_until(last + kSeconds);
}

}  // namespace collbench
