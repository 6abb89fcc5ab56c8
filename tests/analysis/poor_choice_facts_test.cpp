#include "analysis/poor_choice_facts.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::poor_choice_facts_test {
namespace {

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

collbench::Run run_of(std::vector<Row> rows) {
  collbench::Run run;
  run.backend = "mpi";
  run.rows = std::move(rows);
  return run;
}

TEST(PoorChoiceFacts, AreOneLineOverTheSizes) {
  const auto facts = poor_choice_facts(run_of({row(8, 20), row(1024, 7.5), row(4096, 4), row(65536, 5)}));
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_EQ(
      facts[0].text,
      "AllGather, 3 sizes from 1 KiB to 64 KiB: auto runs recursive_doubling; by the model a ring takes 0.40 "
      "to 0.75 of its time: --algo auto,ring compares");
}

TEST(PoorChoiceFacts, ALittleLessIsNothing) {
  EXPECT_THAT(poor_choice_facts(run_of({row(8, 7.6)})), IsEmpty());
}

TEST(PoorChoiceFacts, OnlyOfAChoiceThatIsKnown) {
  Row unknown = row(8, 1);
  unknown.measurement.algorithm_ran = "auto";  // expected: the cheapest
  EXPECT_THAT(poor_choice_facts(run_of({unknown})), IsEmpty());
  Row asked = row(8, 1);
  asked.measurement.key.algorithm = "recursive_doubling";
  EXPECT_THAT(poor_choice_facts(run_of({asked})), IsEmpty());
  EXPECT_THAT(poor_choice_facts(run_of({row(8, 1), asked})), IsEmpty()) << "choice_facts tells of these";
}

TEST(PoorChoiceFacts, OnlyWhereItTookLongerThanARingShould) {
  Row quick = row(8, 5);
  quick.measurement.seconds = 4e-6;
  EXPECT_THAT(poor_choice_facts(run_of({quick})), IsEmpty());
}

TEST(PoorChoiceFacts, OnlyOfOperationsThatHaveARing) {
  Row broadcast = row(8, 1);
  broadcast.measurement.key.operation = OperationId::broadcast;
  EXPECT_THAT(poor_choice_facts(run_of({broadcast})), IsEmpty());
}

TEST(PoorChoiceFacts, NotOnGpusAndNotInSimGrid) {
  auto simulated = run_of({row(8, 1)});
  simulated.simulated = true;
  EXPECT_THAT(poor_choice_facts(simulated), IsEmpty());
  auto run = run_of({row(8, 1)});
  run.backend = "nccl";
  EXPECT_THAT(poor_choice_facts(run), IsEmpty());
}

}  // namespace
}  // namespace collbench::poor_choice_facts_test
