#include "analysis/choice_facts.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::choice_facts_test {
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
  EXPECT_THAT(choice_facts(run_of({row(8, "auto", 10)})), IsEmpty());
  EXPECT_THAT(choice_facts(run_of({row(8, "ring", 10), row(8, "tree", 9)})), IsEmpty());
}

TEST(ChoiceFacts, NeighbouringSizesWithOneWinnerAreOneSentence) {
  const auto facts = choice_facts(run_of({row(8, "auto", 10), row(8, "ring", 9), row(8, "tree", 20),  //
                                          row(32, "auto", 10), row(32, "ring", 8), row(32, "tree", 20),
                                          row(128, "auto", 10), row(128, "ring", 9.8), row(128, "tree", 20),
                                          row(512, "auto", 10), row(512, "ring", 9), row(512, "tree", 5)}));
  ASSERT_THAT(facts, SizeIs(2));
  EXPECT_EQ(facts[0].text, "AllReduce float sum: 8 B to 32 B: ring takes 10 to 20 % less time than auto");
  EXPECT_EQ(facts[1].text, "AllReduce float sum: 512 B: tree takes 50 % less time than auto");
  EXPECT_EQ(facts[0].tone, Tone::warning);
}

TEST(ChoiceFacts, ADifferenceWithinTheIntervalsIsNone) {
  const auto facts = choice_facts(run_of({row(8, "auto", 10), row(8, "ring", 9.3)}));  // 9.67 > 9.6
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_EQ(facts[0].text, "AllReduce float sum: no choice was faster than auto beyond the intervals");
}

TEST(ChoiceFacts, WithoutIntervalsNothingIsTold) {
  Row own = row(8, "auto", 10);
  own.measurement.interval.reset();
  const auto facts = choice_facts(run_of({own, row(8, "ring", 1)}));
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_THAT(facts[0].text, HasSubstr("too few passes"));
}

TEST(ChoiceFacts, WhatDidNotRunDoesNotCompete) {
  Row declined = row(8, "nvls", 1);
  declined.measurement.unavailable = "declined";
  EXPECT_THAT(choice_facts(run_of({row(8, "auto", 10), declined})), IsEmpty());
}

TEST(ChoiceFacts, PlacesAndTypesAreApart) {
  Row in_place = row(8, "ring", 1);
  in_place.measurement.key.in_place = true;
  EXPECT_THAT(choice_facts(run_of({row(8, "auto", 10), in_place})), IsEmpty());
}

TEST(ChoiceFacts, SaysWhatNcclHadExpected) {
  Row own = row(4096, "auto", 10);
  own.measurement.nccl =
      NcclTold{"tree", "ll", 2, {{"tree", "ll", 6.4e-6}, {"ring", "ll", 8.1e-6}, {"ring", "simple", 9e-6}}};
  Row ring = row(4096, "ring", 8);
  ring.measurement.nccl = NcclTold{"ring", "ll", 2, {{"ring", "ll", 8.1e-6}}};
  const auto facts = choice_facts(run_of({own, ring}));
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_THAT(facts[0].text,
              HasSubstr("; at 4 KiB NCCL expected 6.4 µs of tree/ll, which it chose, and 8.1 µs of ring/ll"));
}

}  // namespace
}  // namespace collbench::choice_facts_test
