#include "analysis/time_curve.hpp"

#include <gtest/gtest.h>

namespace collbench::time_curve_test {
namespace {

TEST(TimeCurve, ALineIsTheAlphaBetaModelEverywhere) {
  const TimeCurve curve = TimeCurve::line(2e-6, 1 / 50e9);
  for (const double bytes : {0.0, 8.0, 65536.0, 1e6, 1e9}) {
    EXPECT_NEAR(curve.seconds(bytes), 2e-6 + bytes / 50e9, 1e-12) << bytes;
    EXPECT_NEAR(curve.seconds(bytes, 4 * bytes), 2e-6 + bytes / 50e9, 1e-12) << bytes;
  }
}

TEST(TimeCurve, PassesThroughItsPointsAndContinuesBeyondThem) {
  const TimeCurve curve({{100, 10}, {200, 40}, {1000, 120}});
  EXPECT_DOUBLE_EQ(curve.seconds(100), 10);
  EXPECT_DOUBLE_EQ(curve.seconds(150), 25);
  EXPECT_DOUBLE_EQ(curve.seconds(200), 40);
  EXPECT_DOUBLE_EQ(curve.seconds(600), 80);
  EXPECT_DOUBLE_EQ(curve.seconds(2000), 220);
  EXPECT_DOUBLE_EQ(curve.seconds(0), 0);  // the first line would give −20
}

TEST(TimeCurve, TwoLastPointsThatNoiseMadeAlikeDoNotEndTheGrowth) {
  const TimeCurve curve({{100, 10}, {200, 20}, {400, 40}, {800, 80}, {1600, 80}});
  EXPECT_DOUBLE_EQ(curve.seconds(1600), 80);
  EXPECT_DOUBLE_EQ(curve.seconds(2800), 120);  // from 400 on: 40 for 1200
  const TimeCurve steeper({{100, 10}, {200, 20}, {400, 40}, {800, 160}});
  EXPECT_DOUBLE_EQ(steeper.seconds(1000), 220);
  EXPECT_DOUBLE_EQ(TimeCurve({{100, 10}, {200, 10}}).seconds(400), 10) << "nothing else is known";
}

TEST(TimeCurve, TakesPointsInAnyOrderAndNoiseOffTheSmallerOnes) {
  const TimeCurve curve({{200, 20}, {400, 40}, {100, 90}});
  EXPECT_DOUBLE_EQ(curve.seconds(100), 20);
  EXPECT_DOUBLE_EQ(curve.seconds(300), 30);
}

TEST(TimeCurve, APieceOfALargeOperationGoesAtTheRateOfItsWorkingSet) {
  // 1 per byte up to 100 bytes (200 touched), 3 per byte at 1000 (2000 touched).
  const TimeCurve curve({{0, 0}, {100, 100}, {1000, 3000}});
  EXPECT_DOUBLE_EQ(curve.seconds(50, 100), 50);
  EXPECT_DOUBLE_EQ(curve.seconds(50, 200), 50);
  EXPECT_DOUBLE_EQ(curve.seconds(50, 2000), 150);
  EXPECT_DOUBLE_EQ(curve.seconds(1000, 10), 3000);  // a working set is never less than the piece's own
}

TEST(TimeCurve, WithoutPointsNothingTakesTime) {
  EXPECT_EQ(TimeCurve().seconds(1e9), 0);
  EXPECT_EQ(TimeCurve().seconds(1e6, 1e9), 0);
  EXPECT_EQ(TimeCurve({{0, 0}, {4096, 0}, {1 << 20, 0}}).seconds(1e9), 0);
}

}  // namespace
}  // namespace collbench::time_curve_test
