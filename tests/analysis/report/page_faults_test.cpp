#include "analysis/report/sections.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::page_faults_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A row of 60 ms whose ranks 2 and 3 have this many faults in a call, and the others half of it.
Row row(OperationId id, std::uint64_t size_bytes, double page_faults) {
  Row made = example_row(id, size_bytes, 60e3);
  for (RankTimes& rank : made.measurement.ranks) {
    rank.median_seconds = 60e-3;
    rank.page_faults = page_faults / (rank.rank < 2 ? 2 : 1);
  }
  return made;
}

/// A fault of 4 KiB takes 2 µs there.
collbench::Run run_of(std::vector<Row> rows) {
  collbench::Run run;
  run.backend = BackendId::mpi;
  run.versions.mpi = "Open MPI v4.1.4";
  run.calibration = Calibration{};
  run.calibration->intra = Tier{};
  run.calibration->points = {{CalibrationKind::copy, 4096, 1e-6, std::nullopt, std::nullopt},
                             {CalibrationKind::page_fault, 4096, 2e-6, std::nullopt, std::nullopt}};
  run.rows = std::move(rows);
  return run;
}

constexpr const char* kAdvice =
    "page faults in each call come mostly from buffers that the library reallocates on every call: mpirun -x "
    "MALLOC_MMAP_MAX_=0 -x MALLOC_TRIM_THRESHOLD_=4294967296 makes malloc keep them";

TEST(PageFaultFacts, AreALinePerOperationAndAlgorithmAndThenWhatHelps) {
  using enum OperationId;
  Row by_ring = row(reduce_scatter, 1 << 26, 24578);
  by_ring.measurement.algorithm_ran = "ring";
  const auto facts =
      page_fault_lines(run_of({row(all_reduce, 1 << 20, 0), row(all_reduce, 1 << 25, 4096),
                               row(all_reduce, 1 << 26, 8192), by_ring, row(reduce_scatter, 1 << 26, 3000)}));
  ASSERT_THAT(facts, SizeIs(4));
  EXPECT_EQ(facts[0].text,
            "AllReduce, 2 sizes from 32 MiB to 64 MiB: page faults take about 0.14 to 0.27 of the time "
            "(4096 to 8192 in each call), which the expectation does not include");
  EXPECT_EQ(facts[1].text,
            "ReduceScatter, 64 MiB: page faults take about 0.10 of the time (3000 in each call), which "
            "the expectation does not include");
  EXPECT_EQ(facts[2].text,
            "ReduceScatter by ring, 64 MiB: page faults take about 0.82 of the time (24578 in each call), "
            "which the expectation does not include");
  EXPECT_EQ(facts[3].text, kAdvice);
}

TEST(PageFaultFacts, WhatWasTriedIsNotAdvised) {
  auto run = run_of({row(OperationId::all_reduce, 1 << 26, 8192)});
  EXPECT_EQ(page_fault_lines(run).back().text, kAdvice);
  run.environment["MALLOC_TRIM_THRESHOLD_"] = "1000000";
  EXPECT_THAT(page_fault_lines(run), SizeIs(1));
}

TEST(PageFaultFacts, OnlyOpenMpiHasTheOption) {
  auto run = run_of({row(OperationId::all_reduce, 1 << 26, 8192)});
  run.versions.mpi = "MPICH Version: 4.0.2";
  EXPECT_THAT(page_fault_lines(run).back().text,
              AllOf(HasSubstr("in the ranks' environment make malloc keep them"), Not(HasSubstr("mpirun"))));
}

TEST(PageFaultFacts, ARankIsSetAgainstItsOwnTimeAndTakesAtMostAllOfIt) {
  auto run = run_of({row(OperationId::reduce, 1 << 26, 3000)});
  run.rows[0].measurement.seconds = 1e-6;  // the quickest rank's, with -a min
  EXPECT_NEAR(page_fault_share(run, run.rows[0]), 0.1, 1e-9);
  run.rows[0].measurement.ranks[3].page_faults = 90000;
  EXPECT_EQ(page_fault_share(run, run.rows[0]), 1);
  EXPECT_THAT(
      page_fault_lines(run)[0].text,
      HasSubstr("take a part of the time that is not known, since one took longer in the calibration"));
}

TEST(PageFaultFacts, AFewAreNothing) {
  EXPECT_THAT(page_fault_lines(run_of({row(OperationId::all_reduce, 8, 1490)})), IsEmpty());
  EXPECT_THAT(page_fault_lines(run_of({row(OperationId::all_reduce, 8, 1510)})), SizeIs(2));
}

TEST(PageFaultFacts, WhatAFaultTakesMustBeKnown) {
  auto run = run_of({row(OperationId::all_reduce, 1 << 26, 8192)});
  EXPECT_NEAR(page_fault_share(run, run.rows[0]), 8192 * 2e-6 / 60e-3, 1e-9);
  run.calibration->points.pop_back();
  EXPECT_EQ(page_fault_share(run, run.rows[0]), 0);
  EXPECT_THAT(page_fault_lines(run), IsEmpty());
  run.calibration.reset();
  EXPECT_THAT(page_fault_lines(run), IsEmpty());
}

// Its points contradict each other: seen beside builds, where faults were said to take all of the time.
TEST(PageFaultFacts, ACalibrationThatCannotBeUsedSaysNothingOfThem) {
  auto run = run_of({row(OperationId::all_reduce, 1 << 26, 8192)});
  run.calibration->intra.reset();
  EXPECT_EQ(page_fault_share(run, run.rows[0]), 0);
  EXPECT_THAT(page_fault_lines(run), IsEmpty());
}

TEST(PageFaultFacts, ARowThatDidNotRunHasNone) {
  auto run = run_of({row(OperationId::all_reduce, 1 << 26, 8192)});
  run.rows[0].measurement.ranks.clear();
  EXPECT_THAT(page_fault_lines(run), IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis::page_faults_test
