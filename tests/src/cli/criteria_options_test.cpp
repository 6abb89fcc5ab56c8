#include "src/cli/criteria_options.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "tests/analysis/example_run.hpp"

namespace collbench::program::criteria_options_test {
namespace {

using analysis::FailureKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_min_busbw(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
  return "taken";
}

TEST(MinBusbwOption, IsAnOperationASizeAndARate) {
  EXPECT_EQ(parse_min_busbw("all_reduce@1G>=450"),
            (analysis::MinBusbw{OperationId::all_reduce, 1ULL << 30U, 450e9}));
  EXPECT_EQ(parse_min_busbw("send_recv@1MB>=0.5"),
            (analysis::MinBusbw{OperationId::send_recv, 1'000'000, 0.5e9}));
  EXPECT_EQ(parse_min_busbw("broadcast>=3"), (analysis::MinBusbw{OperationId::broadcast, std::nullopt, 3e9}));
}

TEST(MinBusbwOption, SaysWhatIsWrongWithATypo) {
  EXPECT_THAT(refusal("all_reduce@1G=450"), HasSubstr("--min-busbw: 'all_reduce@1G=450' has no '>='; write"));
  EXPECT_THAT(refusal("all_reduec@1G>=450"), HasSubstr("did you mean all_reduce"));
  EXPECT_THAT(refusal("all_reduce@1X>=450"), HasSubstr("--min-busbw"));
  EXPECT_THAT(refusal("all_reduce@1G>="), HasSubstr("lacks the rate"));
  EXPECT_THAT(refusal("@1G>=4"), HasSubstr("lacks the operation"));
  EXPECT_THAT(refusal("all_reduce@1G>=fast"), HasSubstr("'fast' is not a number"));
  EXPECT_THAT(refusal("all_reduce@1G>=-3"), HasSubstr("out of range"));
  EXPECT_THAT(refusal("all_reduce@1G>=nan"), HasSubstr("--min-busbw"));
}

TEST(FailOnOption, IsAListOfKindsOrNone) {
  EXPECT_THAT(parse_failure_kinds("below,late"), ElementsAre(FailureKind::below, FailureKind::late));
  EXPECT_THAT(parse_failure_kinds("degraded,throttled"),
              ElementsAre(FailureKind::degraded, FailureKind::throttled));
  EXPECT_THAT(parse_failure_kinds("low,unclear"), ElementsAre(FailureKind::below, FailureKind::unclear));
  EXPECT_THAT(parse_failure_kinds("none"), IsEmpty());
  EXPECT_THROW(static_cast<void>(parse_failure_kinds("slow")), Error);
}

TEST(CriteriaOutcome, WrongDataComesBeforeWhatIsSlowWhateverWasAskedFor) {
  for (const bool wrong : {false, true}) {
    for (const VerdictWord word : {VerdictWord::none, VerdictWord::sound, VerdictWord::unclear,
                                   VerdictWord::below, VerdictWord::fault}) {
      collbench::Run run = analysis::example_run();
      for (Row& row : run.rows) row.verdict.word = word;
      if (wrong) run.rows[0].measurement.wrong_elements = 1;
      const bool is_low = is_bad(word);
      for (const bool fails_on_low : {false, true}) {
        for (const bool asked : {false, true}) {
          CriteriaOptions options;
          options.asked = asked;
          if (!fails_on_low) options.criteria.fail_on.clear();
          const CriteriaOutcome outcome = criteria_outcome(run, options);
          const bool fails = is_low && fails_on_low;
          EXPECT_EQ(outcome.status, wrong   ? ExitStatus::wrong_data
                                    : fails ? ExitStatus::low
                                            : ExitStatus::ok);
          const bool says_wrong =
              !outcome.notes.empty() && outcome.notes.front().starts_with("failed: WRONG DATA: ");
          EXPECT_EQ(says_wrong, wrong);
          EXPECT_EQ(outcome.notes.size() > (wrong ? 1U : 0U), asked && fails);
        }
      }
    }
  }
}

TEST(CriteriaOutcome, OfTwoTheWorseOneStays) {
  for (const ExitStatus a : {ExitStatus::ok, ExitStatus::low, ExitStatus::wrong_data})
    for (const ExitStatus b : {ExitStatus::ok, ExitStatus::low, ExitStatus::wrong_data})
      EXPECT_EQ(worse(a, b), static_cast<int>(a) > static_cast<int>(b) ? a : b);
}

}  // namespace
}  // namespace collbench::program::criteria_options_test
