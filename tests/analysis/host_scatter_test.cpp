#include <gtest/gtest.h>

#include "tests/analysis/host_algorithm_fixture.hpp"

namespace collbench::host_scatter_test {
namespace {

constexpr double kBlock = 1e6;

double scatter(std::string_view name, const HostModel& model) {
  return seconds_of(OperationId::scatter, name, model, kBlock * model.ranks());
}

TEST(Scatter, LinearGoesThroughTheRootsLink) {
  EXPECT_SECONDS(scatter("basic_linear", model_of(in_node_order(1, 6))),
                 5 * (kAlphaIntra + kBlock / kIntraRate));
}

TEST(Scatter, TheBinomialTreeCarriesAllButOneBlockOutOfTheRoot) {
  const double least = 3 * kBlock / kIntraRate + 2 * kAlphaIntra;
  EXPECT_GE(scatter("binomial", model_of(in_node_order(1, 4))), least * 0.999);
}

}  // namespace
}  // namespace collbench::host_scatter_test
