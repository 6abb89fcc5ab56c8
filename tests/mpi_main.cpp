// The main of the test programs that run as several ranks under mpirun: every rank runs every test, rank 0
// speaks for all, the others only when something fails on them, and a failure on any rank is a failure of the
// program. A test that is left early on one rank can leave the others waiting: use EXPECT_ around
// collectives.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <memory>

namespace {

/// Prints failures only, with the rank that saw them.
class FailuresOfRank : public ::testing::EmptyTestEventListener {
 public:
  explicit FailuresOfRank(int rank) : rank_(rank) {}

  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("rank %d: %s:%d: %s\n", rank_, result.file_name() ? result.file_name() : "?",
                result.line_number(), result.message());
    std::fflush(stdout);
  }

 private:
  int rank_;
};

}  // namespace

int main(int argument_count, char** arguments) {
  ::testing::InitGoogleTest(&argument_count, arguments);
  MPI_Init(&argument_count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    const std::unique_ptr<::testing::TestEventListener> printer(
        listeners.Release(listeners.default_result_printer()));
    listeners.Append(std::make_unique<FailuresOfRank>(rank).release());
  }
  const int own_result = RUN_ALL_TESTS();
  int result = 0;
  MPI_Allreduce(&own_result, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && result != own_result) std::puts("[  FAILED  ] on another rank, see above");
  MPI_Finalize();
  return rank == 0 ? result : 0;
}
