#include "analysis/models/host/host_expectation.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/models/host/algorithm_fixture.hpp"

namespace collbench::analysis::host_expectation_test {
namespace {

RowKey row(OperationId id, std::uint64_t size) {
  RowKey key;
  key.operation = id;
  key.size_bytes = size;
  if (operation(id).reduces) key.reduction = Reduction::sum;
  return key;
}

Expectation expect(OperationId id, std::uint64_t size, std::string_view ran, const Identities& place) {
  return expect_on_host_memory(row(id, size), ran, two_tier_calibration(), place, {});
}

TEST(HostExpectation, IsTheFormulaOfTheAlgorithmThatRan) {
  const Identities place = in_node_order(2, 4);
  const HostModel model = model_of(place);
  for (const OperationId id : {OperationId::all_reduce, OperationId::all_gather, OperationId::reduce_scatter,
                               OperationId::all_to_all, OperationId::send_recv}) {
    for (const HostAlgorithm& algorithm : host_algorithms(id)) {
      const Expectation expectation = expect(id, 1 << 20, algorithm.name, place);
      EXPECT_EQ(expectation.expected_by, algorithm.name);
      ASSERT_TRUE(expectation.expected_seconds);
      EXPECT_EQ(*expectation.expected_seconds, seconds_of(id, algorithm.name, model, 1 << 20));
    }
  }
}

TEST(HostExpectation, SetsTheLibrarysChoiceAgainstTheCheapest) {
  const Identities place = in_node_order(1, 8);
  Calibration calibration = two_tier_calibration();
  calibration.intra->gap_seconds = kAlphaIntra / 2;
  const HostModel model = model_of(place, calibration);
  const auto expect_auto = [&](std::uint64_t size) {
    return expect_on_host_memory(row(OperationId::all_reduce, size), "auto", calibration, place, {});
  };
  EXPECT_EQ(expect_auto(8).expected_by, "recursive_doubling");
  const Expectation large = expect_auto(64 << 20);
  EXPECT_EQ(large.expected_by, "rabenseifner");
  for (const HostAlgorithm& algorithm : host_algorithms(OperationId::all_reduce)) {
    EXPECT_LE(*large.expected_seconds, seconds_of(OperationId::all_reduce, algorithm.name, model, 64 << 20));
  }
}

TEST(HostExpectation, OffersTheLibraryOnlyWhatItHasForTheseRanks) {
  // Nine ranks: recursive doubling, neighbor and two_proc do not run.
  // (With 64 MiB neighbor's formula would be the cheapest.)
  for (const std::uint64_t size : {8ULL, 64ULL << 20U}) {
    EXPECT_EQ(expect(OperationId::all_gather, size, "auto", in_node_order(1, 9)).expected_by, "bruck");
  }
}

TEST(HostExpectation, GivesRingAndTreeWhereTheyExist) {
  const Identities place = in_node_order(2, 4);
  const auto ring_and_tree = [&](OperationId id) {
    const Expectation expectation = expect(id, 1 << 20, "auto", place);
    return std::pair{expectation.ring_seconds.has_value(), expectation.tree_seconds.has_value()};
  };
  EXPECT_EQ(ring_and_tree(OperationId::all_reduce), std::pair(true, true));
  EXPECT_EQ(ring_and_tree(OperationId::all_gather), std::pair(true, false));
  EXPECT_EQ(ring_and_tree(OperationId::reduce_scatter), std::pair(true, false));
  EXPECT_EQ(ring_and_tree(OperationId::all_to_all), std::pair(false, false));
  EXPECT_EQ(ring_and_tree(OperationId::send_recv), std::pair(false, false));
  EXPECT_EQ(ring_and_tree(OperationId::broadcast), std::pair(true, true));
  EXPECT_EQ(ring_and_tree(OperationId::reduce), std::pair(true, true));
  EXPECT_EQ(ring_and_tree(OperationId::gather), std::pair(false, false));
  const HostModel model = model_of(place);
  EXPECT_EQ(*expect(OperationId::all_reduce, 1 << 20, "auto", place).ring_seconds,
            seconds_of(OperationId::all_reduce, "ring", model, 1 << 20));
}

TEST(HostExpectation, KnowsWhetherTheRowIsInPlace) {
  Calibration calibration = two_tier_calibration();
  calibration.kappa_seconds_per_byte = 1e-9;
  RowKey key = row(OperationId::all_reduce, 1 << 20);
  const auto seconds = [&] {
    return *expect_on_host_memory(key, "ring", calibration, in_node_order(1, 4), {}).expected_seconds;
  };
  const double out_of_place = seconds();
  key.in_place = true;
  EXPECT_NEAR(out_of_place - seconds(), (1 << 20) * 1e-9, 1e-12);
}

TEST(HostExpectation, IsEmptyWhereThereIsNoModel) {
  const auto is_empty = [](const Expectation& expectation) {
    return !expectation.ring_seconds && !expectation.tree_seconds && !expectation.expected_seconds &&
           expectation.expected_by.empty();
  };
  EXPECT_TRUE(is_empty(expect(OperationId::all_reduce, 1024, "ring", in_node_order(1, 1))));
  EXPECT_TRUE(is_empty(expect(OperationId::hypercube, 1024, "auto", in_node_order(1, 4))));
  EXPECT_TRUE(is_empty(expect_on_host_memory(row(OperationId::all_reduce, 1024), "ring", Calibration{},
                                             in_node_order(1, 4), {})));
  const Expectation unknown = expect(OperationId::all_reduce, 1024, "a_new_algorithm", in_node_order(1, 4));
  EXPECT_FALSE(unknown.expected_seconds);
  EXPECT_TRUE(unknown.ring_seconds);
}

}  // namespace
}  // namespace collbench::analysis::host_expectation_test
