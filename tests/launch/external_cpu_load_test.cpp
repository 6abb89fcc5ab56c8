#include "launch/rank_use.hpp"

#include <gmock/gmock.h>

#include "tests/launch/rank_threads.hpp"

namespace collbench::launch::external_cpu_load_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Two ranks on one host of `threads` hardware threads, each busy for all of ten seconds, while all processes
/// of the host took `host_busy_seconds`, and its hypervisor withheld `stolen_seconds`.
std::vector<std::string> after_ten_seconds(double host_busy_seconds, double threads,
                                           double stolen_seconds = 0) {
  const Identities identities{{0, "vm", 0, 0}, {1, "vm", 0, 1}};
  std::vector<std::string> lines;
  run_rank_threads(2, [&](Ranks& ranks) {
    const auto mine = external_cpu_load(ranks, identities, {100, 7, 1, threads},
                                        {100 + host_busy_seconds, 7 + stolen_seconds, 11, threads}, 10);
    if (ranks.is_root()) lines = mine;
  });
  return lines;
}

TEST(OtherLoad, NamesTheHostWhereRanksHadToTakeTurns) {
  EXPECT_THAT(
      after_ten_seconds(35, 2),
      ElementsAre("vm: other processes kept 1.5 of its 2 hardware threads busy during the run and competed "
                  "with the ranks: the times include that interference"));
}

TEST(OtherLoad, IsSilentWhereThereWasRoom) {
  EXPECT_THAT(after_ten_seconds(20, 2), IsEmpty());   // the ranks alone
  EXPECT_THAT(after_ten_seconds(35, 64), IsEmpty());  // as busy, and nobody had to wait
}

TEST(OtherLoad, MoreRanksThanHardwareThreadsAreNobodyElses) {
  EXPECT_THAT(after_ten_seconds(20, 1), IsEmpty());
}

TEST(OtherLoad, NamesTheHypervisor) {
  EXPECT_THAT(
      after_ten_seconds(20, 2, 5),
      ElementsAre("vm: the hypervisor withheld 20 % of the CPU time that this virtual machine asked for "
                  "during the run (steal time): the times include that interference"));
  EXPECT_THAT(after_ten_seconds(20, 64, 5), SizeIs(1));  // room or not: it is the vCPUs that wait
  EXPECT_THAT(after_ten_seconds(20, 2, 0.1), IsEmpty());
  EXPECT_THAT(after_ten_seconds(0, 2), IsEmpty());
}

TEST(OtherLoad, IsSilentWhereNothingIsKnown) { EXPECT_THAT(after_ten_seconds(35, 0, 5), IsEmpty()); }

}  // namespace
}  // namespace collbench::launch::external_cpu_load_test
