#include "base/state_boundaries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collbench::state_boundaries_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kFast = 110e-9;  // round trips, seconds
constexpr double kSlow = 530e-9;

/// A row of so many passes, each with a probe of its own.
RowPasses passes(int count, double seconds, double round_trip_seconds) {
  RowPasses row;
  for (int i = 0; i < count; ++i) {
    row.seconds.push_back(seconds);
    row.round_trip_seconds.push_back(round_trip_seconds * (1 + 1e-9 * i));
  }
  return row;
}

RowPasses joined(RowPasses a, const RowPasses& b) {
  a.seconds.insert(a.seconds.end(), b.seconds.begin(), b.seconds.end());
  a.round_trip_seconds.insert(a.round_trip_seconds.end(), b.round_trip_seconds.begin(),
                              b.round_trip_seconds.end());
  return a;
}

TEST(StateBoundaries, LieWhereTimesFollowTheProbes) {
  EXPECT_THAT(state_boundaries({joined(passes(6, 1, kFast), passes(6, 3, kSlow))}), SizeIs(1));
  EXPECT_THAT(state_boundaries({joined(passes(6, 1, kFast), passes(6, 1, kSlow))}), IsEmpty());
  EXPECT_THAT(state_boundaries({passes(6, 1, kFast), passes(6, 3, kSlow)}), IsEmpty())
      << "no row was in both, so nothing tells";
  EXPECT_THAT(state_boundaries_of_two({passes(6, 1, kFast)}, {passes(6, 3, kSlow)}), SizeIs(1));
  EXPECT_THAT(state_boundaries_of_two({passes(6, 1, kFast)}, {passes(6, 3, 1.4 * kFast)}), IsEmpty())
      << "too near to be told without times";
}

TEST(StateBoundaries, StatesByTheirPasses) {
  const RowPasses row = joined(passes(5, 1, kFast), passes(6, 3, kSlow));
  const std::vector<double> boundaries = state_boundaries({row});
  EXPECT_THAT(commonest_states({row}, boundaries), ElementsAre(1, 0));
  EXPECT_THAT(commonest_states({row, passes(1, 1, kFast)}, boundaries), ElementsAre(0, 1)) << "equally many";
  EXPECT_EQ(seconds_in_state(row, boundaries, 1), std::vector<double>(6, 3.0));
  EXPECT_EQ(state_of(kSlow, boundaries), 1U);
  EXPECT_EQ(state_of(0, boundaries), std::nullopt);
  EXPECT_EQ(state_of(0, {}), 0U) << "of a machine with one state every pass is in it";
}

}  // namespace
}  // namespace collbench::state_boundaries_test
