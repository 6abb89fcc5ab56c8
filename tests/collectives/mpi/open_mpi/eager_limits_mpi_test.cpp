// The eager limit is where a message begins to wait for its receiver.
#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "collectives/mpi/open_mpi/algorithm_control.hpp"

namespace collbench::collectives::eager_limits_mpi_test {
namespace {

/// Whether a message of rank 0 to rank 1 is gone before rank 1 asks for it.
bool leaves_unasked(std::uint64_t bytes) {
  constexpr int kTag = 7;
  constexpr int kPolls = 20'000;
  int rank = 0;
  int gone = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char> buffer(bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    MPI_Isend(buffer.data(), static_cast<int>(bytes), MPI_CHAR, 1, kTag, MPI_COMM_WORLD, &request);
    for (int poll = 0; poll < kPolls && !gone; ++poll) MPI_Test(&request, &gone, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(buffer.data(), static_cast<int>(bytes), MPI_CHAR, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(&gone, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return gone != 0;
}

TEST(EagerLimits, AreExactToTheByte) {
  const AlgorithmControl control;
  const EagerLimits limits = control.eager_limits();
  ASSERT_GT(limits.within_host_bytes, 0U);
  EXPECT_TRUE(leaves_unasked(limits.within_host_bytes));
  EXPECT_FALSE(leaves_unasked(limits.within_host_bytes + 1));
}

}  // namespace
}  // namespace collbench::collectives::eager_limits_mpi_test
