#include <gtest/gtest.h>

#include "tests/analysis/models/host/algorithm_fixture.hpp"

namespace collbench::analysis::gather_scatter_test {
namespace {

constexpr double kBlock = 1e6;

double gather(std::string_view name, const HostModel& model, bool in_place = false) {
  return seconds_of(OperationId::gather, name, model, kBlock * model.ranks(), in_place);
}

TEST(Gather, LinearGoesThroughTheRootsLink) {
  EXPECT_SECONDS(gather("basic_linear", model_of(in_node_order(1, 6))),
                 5 * (kAlphaIntra + kBlock / kIntraRate));
  EXPECT_SECONDS(gather("basic_linear", model_of(in_node_order(2, 1))), kAlphaInter + kBlock / kInterRate);
}

TEST(Gather, OutOfPlaceTheRootCopiesItsOwnBlock) {
  const HostModel model = with_work(in_node_order(1, 4), 0, 1e-9);
  EXPECT_SECONDS(gather("basic_linear", model) - gather("basic_linear", model, true), kBlock * 1e-9);
}

TEST(Gather, TheBinomialTreeCarriesAllButOneBlockIntoTheRoot) {
  const double least = 3 * kBlock / kIntraRate + 2 * kAlphaIntra;
  EXPECT_GE(gather("binomial", model_of(in_node_order(1, 4))), least * 0.999);
}

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

}  // namespace collbench::analysis::gather_scatter_test
