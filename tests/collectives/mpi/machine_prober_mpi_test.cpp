// Looks at real ranks.
#include "collectives/mpi/machine_prober.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <thread>

namespace collbench::collectives::machine_prober_test {
namespace {

constexpr int kMaxProbes = 2000;

class MpiClock : public Clock {
 public:
  [[nodiscard]] double seconds() const override { return MPI_Wtime(); }
};

std::array<double, 4> figures(const MachineProbe& probe) {
  return {probe.round_trip_seconds, probe.steps_per_second, probe.read_bytes_per_second, probe.stolen_share};
}

TEST(MachineProber, EveryRankHasTheWorstOfAllRanks) {
  const MpiClock clock;
  MachineProber prober(clock);
  for (int i = 0; i < 3; ++i) {  // the second begins where the first one's turns ended
    const std::array<double, 4> mine = figures(prober.probe());
    std::array<double, 4> of_root = mine;
    MPI_Bcast(of_root.data(), static_cast<int>(of_root.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    EXPECT_EQ(mine, of_root);
    // No line travels faster than light crosses a chip, and a step is six operations.
    EXPECT_TRUE(mine[0] == 0 || mine[0] > 1e-9) << mine[0];
    EXPECT_GT(mine[1], 0);
    EXPECT_LT(mine[1], 2e9);
    EXPECT_GT(mine[2], 0);
    EXPECT_GE(mine[3], 0);
    EXPECT_LE(mine[3], 1);
  }
}

/// A round trip that had to wait for a core is not known: on a busy machine it takes some probes to see one.
TEST(MachineProber, TheRoundTripIsKnownOnceTwoRanksRunSideBySide) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const MpiClock clock;
  MachineProber prober(clock);
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core: ranks only take turns";
  if (ranks == 1) {
    EXPECT_EQ(prober.probe().round_trip_seconds, 0) << "there is nobody to answer";
    return;
  }
  double seconds = 0;  // the same on every rank: all of them stop together
  for (int probes = 0; seconds == 0 && probes < kMaxProbes; ++probes)
    seconds = prober.probe().round_trip_seconds;
  EXPECT_GT(seconds, 1e-9);
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
