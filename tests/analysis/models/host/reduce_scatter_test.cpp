#include <gtest/gtest.h>

#include "tests/analysis/models/host/algorithm_fixture.hpp"

namespace collbench::analysis::reduce_scatter_test {
namespace {

constexpr double kGamma = 2e-11;
constexpr double kKappa = 3e-11;

double reduce_scatter(std::string_view name, const HostModel& model, double size, bool in_place = false) {
  return seconds_of(OperationId::reduce_scatter, name, model, size, in_place);
}

TEST(RingReduceScatter, ReducesInEachStepAndCopiesInAndOut) {
  for (const int p : {2, 3, 5, 16}) {
    const HostModel model = with_work(in_node_order(1, p), kGamma, kKappa);
    const double size = 1e7;
    const double expected = (p - 1) * kAlphaIntra + (p - 1.0) / p * size * (1 / kIntraRate + kGamma) +
                            (1 + 1.0 / p) * size * kKappa;
    EXPECT_SECONDS(reduce_scatter("ring", model, size), expected);
    EXPECT_SECONDS(reduce_scatter("ring", model, size, true), expected);
  }
}

TEST(RecursiveHalvingReduceScatter, HalvesWhatItSends) {
  const double size = 8e6;
  const HostModel model = with_work(in_node_order(1, 8), kGamma, 0);
  EXPECT_SECONDS(reduce_scatter("recursive_halving", model, size),
                 3 * kAlphaIntra + 7.0 / 8 * size * (1 / kIntraRate + kGamma));
  // Six ranks: all of S from the guests, and their block back.
  const HostModel six = with_work(in_node_order(1, 6), kGamma, 0);
  EXPECT_SECONDS(
      reduce_scatter("recursive_halving", six, size),
      4 * kAlphaIntra + (1 + 3.0 / 4 + 1.0 / 6) * size / kIntraRate + (1 + 3.0 / 4) * size * kGamma);
}

TEST(RecursiveHalvingReduceScatter, SendsTheLargestPartFarAndTheButterflyNear) {
  const double size = 8e6;
  const HostModel model = model_of(in_node_order(2, 2), two_tier_calibration(2));
  const auto intra = [](double bytes) { return kAlphaIntra + bytes / kIntraRate; };
  const auto inter = [](double bytes) { return kAlphaInter + bytes / kInterRate; };
  EXPECT_SECONDS(reduce_scatter("recursive_halving", model, size), inter(size / 2) + intra(size / 4));
  EXPECT_SECONDS(reduce_scatter("butterfly", model, size),
                 intra(size / 2) + inter(size / 4) + inter(size / 4));  // and home: 1 ↔ 2
}

TEST(NonOverlappingReduceScatter, ReducesToOneRankAndScatters) {
  const double size = 4e6;
  const HostModel model = with_work(in_node_order(1, 4), kGamma, 0);
  EXPECT_SECONDS(
      reduce_scatter("non-overlapping", model, size),
      2 * (kAlphaIntra + size * (1 / kIntraRate + kGamma)) + 3 * (kAlphaIntra + size / 4 / kIntraRate));
}

}  // namespace
}  // namespace collbench::analysis::reduce_scatter_test
