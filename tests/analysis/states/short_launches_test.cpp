#include "analysis/states/machine_states.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::analysis::short_launches_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Row row_of(double seconds, std::uint64_t iterations, StopReason reason) {
  Row row;
  row.measurement.seconds = seconds;
  row.measurement.iterations = iterations;
  row.measurement.stopped = Stop{.reason = reason};
  return row;
}

TEST(ShortLaunches, AreThoseWhoseTimeWasUpBeforeABlock) {
  const Row cold = row_of(2.6e-6, 1, StopReason::out_of_time);
  const Row blocks = row_of(0.43e-6, 276'400, StopReason::out_of_time);
  const Row one_long_call = row_of(2, 1, StopReason::out_of_time);
  const Row as_asked = row_of(2.6e-6, 1, StopReason::pass_limit);
  EXPECT_TRUE(had_no_time(cold.measurement));
  for (const Row* const row : {&blocks, &one_long_call, &as_asked})
    EXPECT_FALSE(had_no_time(row->measurement));
  EXPECT_FALSE(had_no_time(Measurement{})) << "another program's";
  EXPECT_THAT(rows_with_time({&cold, &blocks, &cold}), ElementsAre(&blocks));
  EXPECT_THAT(rows_with_time({&cold, &cold}), ElementsAre(&cold, &cold)) << "a bad time is better than none";
  collbench::Run with;
  with.rows = {blocks, cold};
  collbench::Run without;
  without.rows = {blocks, blocks};
  EXPECT_EQ(short_launches({with, without}),
            "1 of 2 launches had no time left for some rows, which are of the others only: use a longer "
            "--time");
  EXPECT_THAT(short_launches({without, without}), IsEmpty());
}

TEST(ShortLaunches, OfARecordAreSeenByItsRows) {
  collbench::Run merged;
  merged.launches = 8;
  merged.rows.resize(3);
  merged.rows[0].measurement.launch_passes.assign(8, 3);
  merged.rows[1].measurement.launch_passes.assign(6, 3);
  EXPECT_EQ(short_launches(merged),
            "2 of 8 launches had no time left for some rows, which are of the others only: use a longer "
            "--time");
  merged.rows[1] = merged.rows[0];
  EXPECT_THAT(short_launches(merged), IsEmpty()) << "a row that is not available is of no launch";
}

}  // namespace
}  // namespace collbench::analysis::short_launches_test
