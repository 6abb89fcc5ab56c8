#include "base/record/calibration.hpp"

#include <gtest/gtest.h>

namespace collbench::calibration_test {
namespace {

TEST(CalibrationKind, IsFoundByTheNameItIsWrittenWith) {
  EXPECT_EQ(name(CalibrationKind::send_recv_inter_all), "send_recv_inter_all");
  EXPECT_EQ(name(CalibrationKind::copy), "copy");
  for (const CalibrationKind kind : calibration_kinds()) {
    ASSERT_NE(find_calibration_kind(name(kind)), nullptr);
    EXPECT_EQ(*find_calibration_kind(name(kind)), kind);
  }
  EXPECT_EQ(find_calibration_kind("memcpy"), nullptr);
}

}  // namespace
}  // namespace collbench::calibration_test
