#include "analysis/models/host/host_expectation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "analysis/models/host/algorithms.hpp"
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

constexpr std::array kRun{OperationId::all_reduce, OperationId::all_gather, OperationId::reduce_scatter,
                          OperationId::all_to_all, OperationId::send_recv};

std::vector<std::string_view> names(OperationId operation) {
  std::vector<std::string_view> result;
  for (const HostAlgorithm& algorithm : host_algorithms(operation)) result.push_back(algorithm.name);
  return result;
}

TEST(HostAlgorithms, HaveOpenMpisNames) {
  // As listed by: ompi_info --param coll tuned --level 9 (Open MPI 4.1.4)
  using testing::ElementsAre;
  EXPECT_THAT(names(OperationId::all_reduce),
              ElementsAre("basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring",
                          "rabenseifner"));
  EXPECT_THAT(names(OperationId::all_gather),
              ElementsAre("linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"));
  EXPECT_THAT(names(OperationId::reduce_scatter),
              ElementsAre("non-overlapping", "recursive_halving", "ring", "butterfly"));
  EXPECT_THAT(names(OperationId::all_to_all),
              ElementsAre("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc",
                          "basic_inplace"));  // this one cannot be chosen
  EXPECT_THAT(names(OperationId::broadcast), ElementsAre("basic_linear", "pipeline", "binomial"));
  EXPECT_THAT(names(OperationId::reduce), ElementsAre("linear", "pipeline", "binomial"));
  EXPECT_THAT(names(OperationId::gather), ElementsAre("basic_linear", "binomial"));
  EXPECT_THAT(names(OperationId::scatter), ElementsAre("basic_linear", "binomial"));
  EXPECT_TRUE(host_algorithms(OperationId::hypercube).empty());
}

TEST(HostAlgorithms, RunOnTheRanksThatTheLibraryAllows) {
  EXPECT_TRUE(power_of_two_ranks(16));
  EXPECT_FALSE(power_of_two_ranks(12));
  EXPECT_TRUE(even_ranks(6));
  EXPECT_FALSE(even_ranks(5));
  EXPECT_FALSE(two_ranks(4));
}

/// Every algorithm, on every number and placement of ranks that it runs on.
template <typename Check>
void for_each_case(const Check& check) {
  const std::vector<Identities> places{in_node_order(1, 2), in_node_order(1, 3), in_node_order(1, 5),
                                       in_node_order(1, 8), in_node_order(2, 1), in_node_order(2, 3),
                                       in_node_order(4, 4), in_node_order(7, 1), cyclic(3, 4)};
  for (const Identities& place : places) {
    const HostModel model = with_work(place, 1e-11, 1e-11);
    for (const OperationId operation : kRun) {
      for (const HostAlgorithm& algorithm : host_algorithms(operation)) {
        if (!algorithm.runs_on(model.ranks())) continue;
        SCOPED_TRACE(testing::Message()
                     << algorithm.name << " of operation " << static_cast<int>(operation) << " on "
                     << model.ranks() << " ranks of " << model.nodes() << " nodes");
        check(algorithm, model);
      }
    }
  }
}

TEST(HostAlgorithms, TakeLongerForMore) {
  for_each_case([](const HostAlgorithm& algorithm, const HostModel& model) {
    double before = 0;
    for (double size = 64; size < 1e9; size *= 4) {
      const double seconds = algorithm.seconds({.model = model, .size_bytes = size, .in_place = false});
      EXPECT_GT(seconds, before) << size;
      before = seconds;
    }
  });
}

TEST(HostAlgorithms, TakeAtLeastOneLatencyAndWhatOneRankMustSend) {
  for_each_case([](const HostAlgorithm& algorithm, const HostModel& model) {
    const double alpha = model.ranks() == model.nodes() ? kAlphaInter : kAlphaIntra;
    EXPECT_GE(algorithm.seconds({.model = model, .size_bytes = 1e-3, .in_place = false}), alpha);
    // No operation's ranks send less than (p − 1)/p · S, or half of S where two ranks share one.
    const double least = 0.5 * 1e9 / kIntraRate;
    EXPECT_GE(algorithm.seconds({.model = model, .size_bytes = 1e9, .in_place = false}), least);
  });
}

TEST(HostAlgorithms, KnowWhatTheyTouch) {
  struct Touched {
    OperationId operation;
    std::string_view name;
    bool in_place;
    double copied;   // of S
    double touched;  // of S
  };
  using enum OperationId;
  // Four ranks: a block is a quarter.
  const std::vector<Touched> cases{{all_reduce, "ring", false, 1, 2.25},
                                   {all_reduce, "recursive_doubling", false, 1, 3},
                                   {all_gather, "ring", false, 0.25, 1.25},
                                   {all_gather, "bruck", true, 1, 2},  // the copy of S alone
                                   {reduce_scatter, "ring", false, 1.25, 2.75},
                                   {reduce_scatter, "ring", true, 1.25, 2.5},
                                   {all_to_all, "pairwise", false, 0.25, 2},
                                   {all_to_all, "linear", false, 0.25, 2},
                                   {all_to_all, "modified_bruck", false, 3.25, 3}};
  const double size = 4000;
  for (const Touched& c : cases) {
    const auto seconds = [&](double cache_bytes) {
      return seconds_of(c.operation, c.name, with_cache(in_node_order(1, 4), cache_bytes), size, c.in_place);
    };
    SCOPED_TRACE(c.name);
    EXPECT_NEAR(seconds(c.touched * size * 1.01) / (c.copied * size), 1, 1e-3);
    EXPECT_NEAR(seconds(c.touched * size * 0.99) / (c.copied * size), 2, 1e-3);
  }
}

TEST(HostAlgorithms, InPlaceNeverCostsMore) {
  for_each_case([](const HostAlgorithm& algorithm, const HostModel& model) {
    EXPECT_LE(algorithm.seconds({.model = model, .size_bytes = 1e6, .in_place = true}),
              algorithm.seconds({.model = model, .size_bytes = 1e6, .in_place = false}));
  });
}

}  // namespace

}  // namespace collbench::analysis::host_expectation_test
