#include "analysis/report/sections.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.hpp"

namespace collbench::analysis::fits_test {
namespace {

using testing::HasSubstr;

/// α and 1/B of an algorithm as measured, and as expected.
void add_sweep(collbench::Run& run, const char* algorithm, double alpha, double rate, double expected_alpha) {
  for (std::uint64_t size = kKiB; size <= 64 * kMiB; size *= 4) {
    Row row;
    row.measurement.key.size_bytes = size;
    row.measurement.key.algorithm = algorithm;
    row.measurement.seconds = alpha + static_cast<double>(size) / rate;
    row.expectation.expected_seconds = expected_alpha + static_cast<double>(size) / rate;
    run.rows.push_back(row);
  }
}

collbench::Run tree_and_ring() {
  collbench::Run run;
  add_sweep(run, "tree", 10e-6, 1e9, 10e-6);
  add_sweep(run, "ring", 110e-6, 2e9, 40e-6);
  return run;
}

TEST(FitFacts, EverySweepHasItsLine) {
  const ReportLines facts = fit_lines(tree_and_ring());
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_THAT(facts[0].text,
              testing::AllOf(HasSubstr("fit of AllReduce tree float: α 10 µs"), HasSubstr("algbw 1.00"),
                             HasSubstr("n½ 9.77 KiB"), HasSubstr("R² 1.000")));
}

TEST(FitFacts, WhereTwoAlgorithmsCross) {
  // The lines meet at 200 kB as measured, and at 60 kB as expected.
  EXPECT_THAT(
      fit_lines(tree_and_ring())[2].text,
      testing::AllOf(HasSubstr("ring overtakes tree"), HasSubstr("predicted between 16 KiB and 64 KiB"),
                     HasSubstr("measured between 64 KiB and 256 KiB"),
                     HasSubstr("crossover of the fits: 195 KiB")));
}

TEST(FitFacts, ThreeSizesAreNoLine) {
  collbench::Run run = tree_and_ring();
  run.rows.resize(3);
  EXPECT_TRUE(fit_lines(run).empty());
}

TEST(CrossingOf, ALaterReturnMovesIt) {
  collbench::Run run = tree_and_ring();
  run.rows[15].measurement.seconds = 1;  // ring at 4 MiB, slower again
  const auto all_series = series_of(run.rows);
  EXPECT_EQ(crossing_of(all_series[0], all_series[1], false), (CrossingSizes{4 * kMiB, 16 * kMiB}));
  EXPECT_FALSE(crossing_of(all_series[1], all_series[0], false));
}

}  // namespace
}  // namespace collbench::analysis::fits_test
