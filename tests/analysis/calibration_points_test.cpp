#include "analysis/calibration_points.hpp"

#include <gtest/gtest.h>

namespace collbench::calibration_points_test {
namespace {

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

}  // namespace
}  // namespace collbench::calibration_points_test
