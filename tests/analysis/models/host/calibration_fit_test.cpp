#include "analysis/models/host/calibration_fit.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/analysis/models/host/host_model_fixture.hpp"

namespace collbench::analysis::calibration_fit_test {
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

CalibrationPoint point(CalibrationKind kind, std::uint64_t bytes) {
  CalibrationPoint result;
  result.kind = kind;
  result.bytes = bytes;
  result.seconds = static_cast<double>(bytes) * 1e-9;
  return result;
}

CalibrationPoint reduced(DataType type, Reduction reduction, std::uint64_t bytes) {
  CalibrationPoint result = point(CalibrationKind::reduce_local, bytes);
  result.type = type;
  result.reduction = reduction;
  return result;
}

std::vector<double> bytes_of(const std::vector<TimePoint>& points) {
  std::vector<double> bytes;
  for (const TimePoint& each : points) bytes.push_back(each.bytes);
  return bytes;
}

TEST(CalibrationPoints, AreThoseOfAKindInTheirOrder) {
  const std::vector<CalibrationPoint> points{point(CalibrationKind::copy, 64),
                                             point(CalibrationKind::send_recv_intra, 8),
                                             point(CalibrationKind::copy, 16)};
  EXPECT_EQ(bytes_of(points_of(points, CalibrationKind::copy)), (std::vector<double>{64, 16}));
  EXPECT_DOUBLE_EQ(points_of(points, CalibrationKind::send_recv_intra).at(0).seconds, 8e-9);
  EXPECT_TRUE(points_of(points, CalibrationKind::burst_inter).empty());
}

TEST(CalibrationPoints, AreThoseOfATypeAndReduction) {
  const std::vector<CalibrationPoint> points{
      reduced(DataType::float32, Reduction::sum, 1), reduced(DataType::float32, Reduction::max, 2),
      reduced(DataType::float64, Reduction::sum, 3), reduced(DataType::float32, Reduction::sum, 4)};
  EXPECT_EQ(bytes_of(points_of(points, DataType::float32, Reduction::sum)), (std::vector<double>{1, 4}));
}

using enum CalibrationKind;

/// Points of a straight line.
void add(std::vector<CalibrationPoint>& points, CalibrationKind kind, double alpha, double seconds_per_byte,
         std::optional<DataType> type = std::nullopt, std::optional<Reduction> reduction = std::nullopt) {
  for (const std::uint64_t bytes : {8U, 4096U, 65536U, 1U << 20U, 16U << 20U}) {
    points.push_back({.kind = kind,
                      .bytes = bytes,
                      .seconds = alpha + static_cast<double>(bytes) * seconds_per_byte,
                      .type = type,
                      .reduction = reduction});
  }
}

TEST(FitCalibration, FindsBothTiersAndTheHostsRate) {
  std::vector<CalibrationPoint> points;
  add(points, send_recv_intra, 1e-6, 1 / 50e9);
  add(points, forward_intra, 3e-6, 1 / 10e9);  // has no tier of its own
  add(points, send_recv_inter, 10e-6, 1 / 25e9);
  add(points, send_recv_inter_all, 10e-6, 1 / 5e9);
  const Calibration fit = fit_calibration(points, in_node_order(2, 8), 4096, 65536);
  ASSERT_TRUE(fit.intra && fit.inter && fit.inter_host_bytes_per_second);
  EXPECT_NEAR(fit.intra->alpha_seconds, 1e-6, 1e-12);
  EXPECT_NEAR(fit.intra->bytes_per_second, 50e9, 1e3);
  EXPECT_EQ(fit.intra->eager_limit_bytes, 4096U);
  EXPECT_NEAR(fit.inter->alpha_seconds, 10e-6, 1e-12);
  EXPECT_NEAR(fit.inter->bytes_per_second, 25e9, 1e3);
  EXPECT_EQ(fit.inter->eager_limit_bytes, 65536U);
  EXPECT_NEAR(*fit.inter_host_bytes_per_second, 8 * 5e9, 1e4);
  EXPECT_LT(fit.fit_relative_error, 1e-6);
  EXPECT_EQ(fit.points, points);
}

TEST(FitCalibration, TheGapIsWhatEachFurtherMessageOfABurstAdds) {
  std::vector<CalibrationPoint> points;
  add(points, send_recv_intra, 1e-6, 1 / 50e9);
  add(points, send_recv_inter, 10e-6, 1 / 25e9);
  add(points, burst_intra, 1e-6 + 15 * 0.4e-6, 0);
  add(points, burst_inter, 9e-6, 0);  // less than one message: noise
  const Calibration fit = fit_calibration(points, in_node_order(2, 2), 0, 0);
  EXPECT_NEAR(fit.intra->gap_seconds, 0.4e-6, 1e-9);
  EXPECT_EQ(fit.inter->gap_seconds, 0);
}

TEST(FitCalibration, OfUnequalHostsTheRanksThatAllHaveSend) {
  std::vector<CalibrationPoint> points;
  add(points, send_recv_inter, 10e-6, 1 / 25e9);
  add(points, send_recv_inter_all, 10e-6, 1 / 5e9);
  Identities identities = in_node_order(2, 3);
  identities.pop_back();
  EXPECT_NEAR(*fit_calibration(points, identities, 0, 0).inter_host_bytes_per_second, 2 * 5e9, 1e4);
}

TEST(FitCalibration, LeavesOutWhatWasNotMeasured) {
  std::vector<CalibrationPoint> points;
  add(points, send_recv_intra, 1e-6, 1 / 50e9);
  const Calibration fit = fit_calibration(points, in_node_order(1, 4), 0, 0);
  EXPECT_TRUE(fit.intra);
  EXPECT_FALSE(fit.inter);
  EXPECT_FALSE(fit.inter_host_bytes_per_second);
  EXPECT_TRUE(fit.gammas.empty());
  EXPECT_EQ(fit.kappa_seconds_per_byte, 0);
}

TEST(FitCalibration, GivesAGammaToEachTypeAndReduction) {
  std::vector<CalibrationPoint> points;
  add(points, reduce_local, 0, 1e-10, DataType::float32, Reduction::sum);
  add(points, reduce_local, 0, 4e-10, DataType::float16, Reduction::sum);
  add(points, reduce_local, 0, 2e-10, DataType::float32, Reduction::max);
  add(points, copy, 0, 5e-11);
  const Calibration fit = fit_calibration(points, in_node_order(1, 1), 0, 0);
  ASSERT_EQ(fit.gammas.size(), 3U);
  EXPECT_EQ(fit.gammas[1].type, DataType::float16);
  EXPECT_NEAR(fit.gammas[0].seconds_per_byte, 1e-10, 1e-15);
  EXPECT_NEAR(fit.gammas[1].seconds_per_byte, 4e-10, 1e-15);
  EXPECT_EQ(fit.gammas[2].reduction, Reduction::max);
  EXPECT_NEAR(fit.gammas[2].seconds_per_byte, 2e-10, 1e-15);
  EXPECT_NEAR(fit.kappa_seconds_per_byte, 5e-11, 1e-16);
}

TEST(FitCalibration, WorkThatASimulatorDoesNotSimulateIsFree) {
  std::vector<CalibrationPoint> points;
  add(points, reduce_local, 0, 0, DataType::float32, Reduction::sum);
  add(points, copy, 0, 0);
  const Calibration fit = fit_calibration(points, in_node_order(1, 1), 0, 0);
  ASSERT_EQ(fit.gammas.size(), 1U);
  EXPECT_EQ(fit.gammas[0].seconds_per_byte, 0);
  EXPECT_EQ(fit.kappa_seconds_per_byte, 0);
}

TEST(FitCalibration, NamesItsLargestError) {
  std::vector<CalibrationPoint> points;
  add(points, send_recv_intra, 1e-6, 1 / 50e9);
  points[2].seconds *= 2;
  EXPECT_GT(fit_calibration(points, in_node_order(1, 2), 0, 0).fit_relative_error, 0.2);
}

TEST(FitCalibration, MessagesThatTakeNoTimeCannotBe) {
  std::vector<CalibrationPoint> points;
  add(points, send_recv_intra, 0, 0);
  EXPECT_THROW(static_cast<void>(fit_calibration(points, in_node_order(1, 2), 0, 0)), Error);
}

}  // namespace

}  // namespace collbench::analysis::calibration_fit_test
