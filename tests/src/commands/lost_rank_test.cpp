#include "src/commands/supervised_launch.hpp"

#include <gtest/gtest.h>

namespace collbench::program::lost_rank_test {
namespace {

constexpr const char* kMpirun =
    "--------------------------------------------------------------------------\n"
    "mpirun noticed that process rank 1 with PID 4711 on node node1 exited on signal 9 (Killed).\n"
    "--------------------------------------------------------------------------\n";

TEST(LostRank, MpirunSaysTheSignalAndTheRanksWhereItWas) {
  EXPECT_EQ(lost_rank(kMpirun), "rank 1 on node1 was killed by signal 9 (Killed)");
  const std::string with_own = std::string(
                                   "\ncollbench: AllReduce 64 KiB: rank 1 (node1) is gone, last seen inside "
                                   "AllReduce 64 KiB, call 1, pass "
                                   "25; rank 0 (node1) waits inside AllReduce 64 KiB\n") +
                               kMpirun;
  EXPECT_EQ(lost_rank(with_own),
            "rank 1 on node1 was killed by signal 9 (Killed) inside AllReduce 64 KiB, call 1, pass 25");
  EXPECT_EQ(lost_rank("mpirun noticed that process rank 12 with PID 1 on node a-b.c exited on signal 11.\n"),
            "rank 12 on a-b.c was killed by signal 11");
}

TEST(LostRank, AHostWhoseDaemonIsLostIsGone) {
  EXPECT_EQ(lost_rank("ORTE has lost communication with a remote daemon.\n\n"
                      "  HNP daemon   : [[7,0],0] on node node0\n"
                      "  Remote daemon: [[7,0],1] on node node1\n\nThis is usually"),
            "host node1 is gone: mpirun lost its daemon there");
}

TEST(LostRank, SrunSaysHowATaskEnded) {
  EXPECT_EQ(lost_rank("srun: Job step aborted\nsrun: error: n2: task 3: Killed\n"),
            "rank 3 on n2 ended: Killed");
  EXPECT_EQ(lost_rank("srun: error: n2: task 3: Exited with exit code 7"),
            "rank 3 on n2 ended: Exited with exit code 7");
}

TEST(LostRank, OtherWordsNameNone) {
  for (const char* const text :
       {"", "collbench: --sizes: 'x' is no size\n", "srun: error: Unable to create step\n",
        "srun: error: n2: task : ", "mpirun noticed that process rank ",
        "mpirun noticed that process rank x with PID 1 on node n exited on signal 9.",
        "mpirun noticed that process rank 1 with PID 1\n on node n exited on signal 9.",
        "ORTE has lost communication with a remote daemon.\n\n  Remote daemon: "}) {
    EXPECT_EQ(lost_rank(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace collbench::program::lost_rank_test
