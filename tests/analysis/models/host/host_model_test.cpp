#include "analysis/models/host/host_model.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/models/host/host_model_fixture.hpp"

namespace collbench::analysis::host_model_test {
namespace {

TEST(HostModel, IsTheLinesOfTheCalibrationWhenThereAreNoPoints) {
  Calibration calibration = two_tier_calibration(2);
  calibration.gammas[0].seconds_per_byte = 1e-10;
  calibration.kappa_seconds_per_byte = 2e-10;
  const HostModel model = model_of(in_node_order(2, 3), calibration);
  EXPECT_EQ(model.ranks(), 6);
  EXPECT_EQ(model.nodes(), 2);
  EXPECT_NEAR(model.intra.standing.seconds(1e6), 21e-6, 1e-12);
  EXPECT_NEAR(model.inter.forwarded.seconds(1e6), 50e-6, 1e-12);
  EXPECT_EQ(model.host_bytes_per_second, 2 * kInterRate);
  EXPECT_NEAR(model.reduce.seconds(1e6), 1e-4, 1e-12);
  EXPECT_NEAR(model.copy.seconds(1e6), 2e-4, 1e-12);
}

TEST(HostModel, FollowsThePointsOfEachKind) {
  Calibration calibration = two_tier_calibration();
  const auto point = [&](CalibrationKind kind, double seconds) {
    for (const std::uint64_t bytes : {1000U, 2000U}) {
      const double scale = static_cast<double>(bytes) / 1000;
      calibration.points.push_back({.kind = kind,
                                    .bytes = bytes,
                                    .seconds = seconds * scale,
                                    .type = std::nullopt,
                                    .reduction = std::nullopt});
    }
  };
  point(CalibrationKind::send_recv_intra, 1);
  point(CalibrationKind::forward_intra, 2);
  point(CalibrationKind::send_recv_inter, 3);
  point(CalibrationKind::send_recv_inter_all, 100);
  point(CalibrationKind::copy, 4);
  calibration.points.push_back({.kind = CalibrationKind::reduce_local,
                                .bytes = 1000,
                                .seconds = 5,
                                .type = DataType::float32,
                                .reduction = Reduction::sum});
  calibration.points.push_back({.kind = CalibrationKind::reduce_local,
                                .bytes = 1000,
                                .seconds = 50,
                                .type = DataType::float64,
                                .reduction = Reduction::sum});
  const HostModel model = model_of(in_node_order(2, 2), calibration);
  EXPECT_DOUBLE_EQ(model.intra.standing.seconds(1000), 1);
  EXPECT_DOUBLE_EQ(model.intra.forwarded.seconds(1000), 2);
  EXPECT_DOUBLE_EQ(model.inter.standing.seconds(1000), 3);
  EXPECT_DOUBLE_EQ(model.inter.forwarded.seconds(1000), 3);
  EXPECT_DOUBLE_EQ(model.copy.seconds(1000), 4);
  EXPECT_DOUBLE_EQ(model.copy.seconds(500), 2);
  EXPECT_DOUBLE_EQ(model.reduce.seconds(1000), 5);
}

TEST(HostModel, ExchangesTakeFromOneToTwoMessages) {
  const auto factor = [](double message_seconds, double exchange_seconds) {
    Calibration calibration = two_tier_calibration();
    const auto point = [&](CalibrationKind kind, std::uint64_t bytes, double seconds) {
      calibration.points.push_back({.kind = kind,
                                    .bytes = bytes,
                                    .seconds = seconds,
                                    .type = std::nullopt,
                                    .reduction = std::nullopt});
    };
    point(CalibrationKind::send_recv_inter, 1U << 19, message_seconds / 2);
    point(CalibrationKind::send_recv_inter, 1U << 20, message_seconds);
    if (exchange_seconds > 0) point(CalibrationKind::exchange_inter, 1U << 20, exchange_seconds);
    return model_of(in_node_order(2, 2), calibration).inter.exchange_factor;
  };
  EXPECT_DOUBLE_EQ(factor(1e-3, 0), 1);  // a record of before it was measured
  EXPECT_DOUBLE_EQ(factor(1e-3, 1.7e-3), 1.7);
  EXPECT_DOUBLE_EQ(factor(1e-3, 0.9e-3), 1);
  EXPECT_DOUBLE_EQ(factor(1e-3, 9e-3), 2);
}

TEST(HostModel, NeedsTheTiersThatTheRanksUseAndNoOther) {
  Calibration no_inter = two_tier_calibration();
  no_inter.inter.reset();
  Calibration no_intra = two_tier_calibration();
  no_intra.intra.reset();
  const auto model = [](const Calibration& calibration, const Identities& identities) {
    return host_model(calibration, identities, DataType::float32, std::nullopt).has_value();
  };
  EXPECT_TRUE(model(no_inter, in_node_order(1, 4)));
  EXPECT_FALSE(model(no_inter, in_node_order(2, 2)));
  EXPECT_TRUE(model(no_intra, in_node_order(4, 1)));
  EXPECT_FALSE(model(no_intra, in_node_order(2, 2)));
}

TEST(HostModel, NeedsTheGammaOfTheRowsOwnTypeAndReduction) {
  const Calibration calibration = two_tier_calibration();
  const Identities identities = in_node_order(1, 2);
  EXPECT_TRUE(host_model(calibration, identities, DataType::float32, Reduction::sum));
  EXPECT_FALSE(host_model(calibration, identities, DataType::float32, Reduction::max));
  EXPECT_FALSE(host_model(calibration, identities, DataType::float64, Reduction::sum));
  EXPECT_TRUE(host_model(calibration, identities, DataType::float64, std::nullopt));
}

}  // namespace
}  // namespace collbench::analysis::host_model_test
