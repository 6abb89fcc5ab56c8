#include "base/record/calibration.hpp"

#include <gtest/gtest.h>

#include "tests/base/record/random_run.hpp"

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

Calibration there_and_back(const Calibration& calibration) {
  const auto document = nlohmann::json::parse(calibration_to_json(calibration).dump());
  return calibration_from_json(JsonReader(document, "run.json"));
}

TEST(CalibrationJson, ComesBackAsItWas) {
  RandomRun random(1);
  for (int i = 0; i < 100; ++i) {
    const Calibration calibration = random.calibration();
    EXPECT_EQ(there_and_back(calibration), calibration);
  }
}

TEST(CalibrationJson, IsWrittenWithUnitsInItsKeys) {
  Calibration calibration;
  calibration.intra = Tier{1e-6, 5e9, 1e-7, 4096};
  calibration.gammas = {{DataType::float32, Reduction::sum, 2e-10}};
  calibration.points = {{CalibrationKind::copy, 64, 1e-8, std::nullopt, std::nullopt}};
  EXPECT_EQ(calibration_to_json(calibration).dump(),
            R"({"intra":{"alpha_seconds":1e-06,"bytes_per_second":5000000000.0,)"
            R"("gap_seconds":1e-07,"eager_limit_bytes":4096},)"
            R"("inter":null,"inter_host_bytes_per_second":null,)"
            R"("gammas":[{"type":"float","reduction":"sum","seconds_per_byte":2e-10}],)"
            R"("kappa_seconds_per_byte":0.0,"fit_relative_error":0.0,)"
            R"("points":[{"kind":"copy","size_bytes":64,"seconds":1e-08,"type":null,"reduction":null}]})");
}

TEST(CalibrationJson, AnUnknownKindOfPointIsAnError) {
  const auto document = nlohmann::json::parse(
      R"({"gammas":[],"kappa_seconds_per_byte":0,"fit_relative_error":0,"points":[{"kind":"guess"}]})");
  EXPECT_THROW(static_cast<void>(calibration_from_json(JsonReader(document, "run.json"))), Error);
}

}  // namespace

}  // namespace collbench::calibration_test
