// Looks at real ranks.
#include "collectives/mpi/machine_prober.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>

namespace collbench::collectives::machine_prober_test {
namespace {

class MpiClock : public Clock {
 public:
  [[nodiscard]] double seconds() const override { return MPI_Wtime(); }
};

std::array<double, 4> figures(const MachineProbe& probe) {
  return {probe.round_trip_seconds, probe.steps_per_second, probe.read_bytes_per_second, probe.stolen_share};
}

TEST(MachineProber, EveryRankHasTheWorstOfAllRanks) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const MpiClock clock;
  MachineProber prober(clock);
  for (int i = 0; i < 3; ++i) {  // the second begins where the first one's turns ended
    const std::array<double, 4> mine = figures(prober.probe());
    std::array<double, 4> of_root = mine;
    MPI_Bcast(of_root.data(), static_cast<int>(of_root.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    EXPECT_EQ(mine, of_root);
    // No line travels faster than light crosses a chip, and a step is six operations.
    EXPECT_EQ(mine[0] > 1e-9, ranks > 1) << "with one rank there is nobody to answer";
    EXPECT_GT(mine[1], 0);
    EXPECT_LT(mine[1], 2e9);
    EXPECT_GT(mine[2], 0);
    EXPECT_GE(mine[3], 0);
    EXPECT_LE(mine[3], 1);
  }
}

TEST(MachineProber, ASecondOneWorksBesideTheFirst) {
  const MpiClock clock;
  MachineProber first(clock);
  MachineProber second(clock);
  EXPECT_GT(first.probe().steps_per_second, 0);
  EXPECT_GT(second.probe().steps_per_second, 0);
}

}  // namespace
}  // namespace collbench::collectives::machine_prober_test
