#include "analysis/report/sections.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::algorithm_choice_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Row row(std::uint64_t size_bytes, const std::string& algorithm, double microseconds) {
  Row made = example_row(OperationId::all_reduce, size_bytes, microseconds);  // ± 4 %
  made.measurement.key.algorithm = algorithm;
  return made;
}

Run run_of(std::vector<Row> rows) {
  Run run;
  run.rows = std::move(rows);
  return run;
}

TEST(ChoiceFacts, NothingIsSaidWithoutAnotherChoice) {
  EXPECT_THAT(choice_lines(run_of({row(8, "auto", 10)})), IsEmpty());
  EXPECT_THAT(choice_lines(run_of({row(8, "ring", 10), row(8, "tree", 9)})), IsEmpty());
}

TEST(ChoiceFacts, NeighboringSizesWithOneWinnerAreOneSentence) {
  const auto facts = choice_lines(run_of({row(8, "auto", 10), row(8, "ring", 9), row(8, "tree", 20),  //
                                          row(32, "auto", 10), row(32, "ring", 8), row(32, "tree", 20),
                                          row(128, "auto", 10), row(128, "ring", 9.8), row(128, "tree", 20),
                                          row(512, "auto", 10), row(512, "ring", 9), row(512, "tree", 5)}));
  ASSERT_THAT(facts, SizeIs(2));
  EXPECT_EQ(facts[0].text, "AllReduce float sum: 8 B to 32 B: ring takes 10 to 20 % less time than auto");
  EXPECT_EQ(facts[1].text, "AllReduce float sum: 512 B: tree takes 50 % less time than auto");
  EXPECT_EQ(facts[0].tone, Tone::warning);
}

TEST(ChoiceFacts, ADifferenceWithinTheIntervalsIsNone) {
  const auto facts = choice_lines(run_of({row(8, "auto", 10), row(8, "ring", 9.3)}));  // 9.67 > 9.6
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_EQ(facts[0].text,
            "AllReduce float sum: no other algorithm measured was significantly faster than auto");
}

TEST(ChoiceFacts, WithoutIntervalsNothingIsClaimed) {
  Row own = row(8, "auto", 10);
  own.measurement.interval.reset();
  const auto facts = choice_lines(run_of({own, row(8, "ring", 1)}));
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_THAT(facts[0].text, HasSubstr("too few passes"));
}

TEST(ChoiceFacts, WhatDidNotRunDoesNotCompete) {
  Row declined = row(8, "nvls", 1);
  declined.measurement.unavailable = "declined";
  EXPECT_THAT(choice_lines(run_of({row(8, "auto", 10), declined})), IsEmpty());
}

TEST(ChoiceFacts, InPlaceAndTypesAreApart) {
  Row in_place = row(8, "ring", 1);
  in_place.measurement.key.in_place = true;
  EXPECT_THAT(choice_lines(run_of({row(8, "auto", 10), in_place})), IsEmpty());
}

TEST(ChoiceFacts, SaysWhatNcclHadExpected) {
  Row own = row(4096, "auto", 10);
  own.measurement.nccl = NcclSelection{
      "tree", "ll", 2, {{"tree", "ll", 6.4e-6}, {"ring", "ll", 8.1e-6}, {"ring", "simple", 9e-6}}};
  Row ring = row(4096, "ring", 8);
  ring.measurement.nccl = NcclSelection{"ring", "ll", 2, {{"ring", "ll", 8.1e-6}}};
  const auto facts = choice_lines(run_of({own, ring}));
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_THAT(
      facts[0].text,
      HasSubstr("; at 4 KiB NCCL predicted 6.4 µs for tree/ll, which it chose, and 8.1 µs for ring/ll"));
}

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The library chose recursive doubling, which is expected to take 10 µs.
Row row(std::uint64_t size_bytes, double ring_microseconds) {
  Row made = example_row(OperationId::all_gather, size_bytes, 10);
  made.measurement.key.algorithm = "auto";
  made.measurement.algorithm_ran = made.expectation.expected_by = "recursive_doubling";
  made.expectation.expected_seconds = 10e-6;
  made.expectation.ring_seconds = ring_microseconds * 1e-6;
  return made;
}

Run mpi_run_of(std::vector<Row> rows) {
  Run run;
  run.backend = BackendId::mpi;
  run.rows = std::move(rows);
  return run;
}

TEST(PoorChoiceFacts, AreOneLineOverTheSizes) {
  const auto facts = poor_choice_lines(mpi_run_of({row(8, 20), row(1024, 7.5), row(4096, 4), row(65536, 5)}));
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_EQ(
      facts[0].text,
      "AllGather, 3 sizes from 1 KiB to 64 KiB: auto runs recursive_doubling; the model predicts that a ring "
      "takes 0.40 to 0.75 of its time: compare with --algo auto,ring");
}

TEST(PoorChoiceFacts, ALittleLessIsNothing) {
  EXPECT_THAT(poor_choice_lines(mpi_run_of({row(8, 7.6)})), IsEmpty());
}

TEST(PoorChoiceFacts, OnlyOfAChoiceThatIsKnown) {
  Row unknown = row(8, 1);
  unknown.measurement.algorithm_ran = "auto";  // expected: the cheapest
  EXPECT_THAT(poor_choice_lines(mpi_run_of({unknown})), IsEmpty());
  Row asked = row(8, 1);
  asked.measurement.key.algorithm = "recursive_doubling";
  EXPECT_THAT(poor_choice_lines(mpi_run_of({asked})), IsEmpty());
  EXPECT_THAT(poor_choice_lines(mpi_run_of({row(8, 1), asked})), IsEmpty()) << "choice_facts tells of these";
}

TEST(PoorChoiceFacts, OnlyWhereItTookLongerThanARingShould) {
  Row quick = row(8, 5);
  quick.measurement.seconds = 4e-6;
  EXPECT_THAT(poor_choice_lines(mpi_run_of({quick})), IsEmpty());
}

TEST(PoorChoiceFacts, OnlyOfOperationsThatHaveARing) {
  Row broadcast = row(8, 1);
  broadcast.measurement.key.operation = OperationId::broadcast;
  EXPECT_THAT(poor_choice_lines(mpi_run_of({broadcast})), IsEmpty());
}

TEST(PoorChoiceFacts, NotOnGpusAndNotInSimGrid) {
  auto simulated = mpi_run_of({row(8, 1)});
  simulated.simulated = true;
  EXPECT_THAT(poor_choice_lines(simulated), IsEmpty());
  auto run = mpi_run_of({row(8, 1)});
  run.backend = BackendId::nccl;
  EXPECT_THAT(poor_choice_lines(run), IsEmpty());
}

}  // namespace

}  // namespace collbench::analysis::algorithm_choice_test
