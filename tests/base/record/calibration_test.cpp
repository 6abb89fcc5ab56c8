#include "base/record/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "tests/base/record/random_run.hpp"

namespace collbench::calibration_test {
namespace {

TEST(CalibrationKind, IsWrittenByItsName) {
  EXPECT_EQ(name(CalibrationKind::send_recv_inter_all), "send_recv_inter_all");
  EXPECT_EQ(name(CalibrationKind::copy), "copy");
  EXPECT_EQ(name(CalibrationKind::exchange_inter), "exchange_inter");
}

Calibration there_and_back(const Calibration& calibration) {
  const auto document = nlohmann::json::parse(record_to_json(calibration).dump());
  return record_from_json<Calibration>(JsonReader(document, "run.json"));
}

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Of an idle machine: two ranks of the machine of docs/notes/benchmarks.md, in seconds.
std::vector<CalibrationPoint> idle_points() {
  using enum CalibrationKind;
  std::vector<CalibrationPoint> points;
  const auto add = [&](CalibrationKind kind,
                       const std::vector<std::pair<std::uint64_t, double>>& microseconds) {
    for (const auto& [bytes, each] : microseconds)
      points.push_back({.kind = kind, .bytes = bytes, .seconds = each * 1e-6});
  };
  add(send_recv_intra, {{8, 0.5},
                        {64, 0.64},
                        {512, 0.95},
                        {2048, 1.28},
                        {4096, 2.22},
                        {32768, 3.98},
                        {262144, 14.24},
                        {524288, 25.7},
                        {1048576, 66.1},
                        {2097152, 204},
                        {4194304, 795},
                        {8388608, 1782},
                        {16777216, 3600}});
  add(forward_intra, {{8, 0.52},
                      {64, 0.55},
                      {512, 0.91},
                      {2048, 1.26},
                      {4096, 3.05},
                      {32768, 8.6},
                      {262144, 36.8},
                      {524288, 62.5},
                      {1048576, 135},
                      {2097152, 325},
                      {4194304, 930}});
  add(burst_intra, {{8, 2.4}});
  add(copy, {{4096, 0.03},
             {32768, 0.81},
             {262144, 6.49},
             {524288, 13.9},
             {1048576, 45.8},
             {2097152, 187.8},
             {4194304, 570},
             {8388608, 1252},
             {16777216, 2806}});
  return points;
}

TEST(DisturbedPoints, NoneOfAnIdleMachine) { EXPECT_THAT(disturbed_points(idle_points()), IsEmpty()); }

/// As on a machine that compiled at the same time: single points of tens of milliseconds.
TEST(DisturbedPoints, APointThatTheSchedulerKeptIsOneWhereverItIs) {
  const auto idle = idle_points();
  for (std::size_t i = 0; i < idle.size(); ++i) {
    auto points = idle;
    points[i].seconds = 20 * points[i].seconds + 30e-3;
    EXPECT_THAT(disturbed_points(points), Contains(i)) << name(points[i].kind) << " " << points[i].bytes;
  }
}

TEST(DisturbedPoints, AMachineOfTwoStatesAlmostAFactorOfTwoApartHasNone) {
  const auto idle = idle_points();
  for (unsigned seed = 0; seed < 200; ++seed) {
    auto points = idle;
    std::minstd_rand random(seed + 1);
    for (CalibrationPoint& point : points) point.seconds *= random() % 2 == 0 ? 1 : 1.9;
    EXPECT_THAT(disturbed_points(points), IsEmpty()) << seed;
  }
}

TEST(DisturbedPoints, BurstsAndExchangesAreHeldAgainstSingleMessages) {
  using enum CalibrationKind;
  EXPECT_THAT(disturbed_points(
                  std::vector<CalibrationPoint>{{.kind = send_recv_inter, .bytes = 8, .seconds = 10e-6},
                                                {.kind = burst_inter, .bytes = 8, .seconds = 400e-6},
                                                {.kind = send_recv_inter, .bytes = 1048576, .seconds = 1e-3},
                                                {.kind = exchange_inter, .bytes = 1048576, .seconds = 5e-3}}),
              ElementsAre(1, 3));
}

TEST(DisturbedPoints, NoneWhereNoTimePasses) {
  using enum CalibrationKind;
  EXPECT_THAT(disturbed_points(std::vector<CalibrationPoint>{{.kind = copy, .bytes = 4096, .seconds = 0},
                                                             {.kind = copy, .bytes = 32768, .seconds = 0}}),
              IsEmpty());
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
  calibration.probes = {{110e-9, 0, 0, 0}};
  EXPECT_EQ(record_to_json(calibration).dump(),
            R"({"intra":{"alpha_seconds":1e-06,"bytes_per_second":5000000000.0,)"
            R"("gap_seconds":1e-07,"eager_limit_bytes":4096},)"
            R"("inter":null,"inter_host_bytes_per_second":null,)"
            R"("gammas":[{"type":"float","reduction":"sum","seconds_per_byte":2e-10}],)"
            R"("kappa_seconds_per_byte":0.0,"fit_relative_error":0.0,)"
            R"("points":[{"kind":"copy","size_bytes":64,"seconds":1e-08,"type":null,"reduction":null}],)"
            R"("probes":{"round_trip_seconds":[1.1e-07],"steps_per_second":[null],)"
            R"("read_bytes_per_second":[null],"stolen_share":[0.0]}})");
}

TEST(CalibrationJson, AnUnknownKindOfPointIsAnError) {
  const auto document = nlohmann::json::parse(
      R"({"gammas":[],"kappa_seconds_per_byte":0,"fit_relative_error":0,"points":[{"kind":"guess"}]})");
  EXPECT_THROW(static_cast<void>(record_from_json<Calibration>(JsonReader(document, "run.json"))), Error);
}

}  // namespace

}  // namespace collbench::calibration_test
