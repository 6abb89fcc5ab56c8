#include <gtest/gtest.h>

#include "tests/analysis/host_algorithm_fixture.hpp"

namespace collbench::host_reduce_test {
namespace {

constexpr double kGamma = 1e-10;
constexpr double kSize = 1e6;

double reduce(std::string_view name, int ranks, double gamma) {
  return seconds_of(OperationId::reduce, name, with_work(in_node_order(1, ranks), gamma, 0), kSize);
}

TEST(Reduce, LinearGoesThroughTheRootsLinkAndItsArithmetic) {
  const double step = kAlphaIntra + kSize / kIntraRate;
  EXPECT_SECONDS(reduce("linear", 5, 0), 4 * step);
  EXPECT_SECONDS(reduce("linear", 5, kGamma), 4 * (step + kSize * kGamma));
}

TEST(Reduce, TheBinomialTreeReducesOnceALevel) {
  EXPECT_SECONDS(reduce("binomial", 2, kGamma), kAlphaIntra + kSize / kIntraRate + kSize * kGamma);
  EXPECT_GE(reduce("binomial", 8, kGamma), 3 * (kAlphaIntra + kSize / kIntraRate + kSize * kGamma) * 0.999);
}

TEST(Reduce, APipelineTakesItsSlowestHopAndItsArithmetic) {
  EXPECT_SECONDS(reduce("pipeline", 8, 0), kSize / kIntraRate);
  EXPECT_GE(reduce("pipeline", 8, kGamma), kSize * kGamma);
}

}  // namespace
}  // namespace collbench::host_reduce_test
