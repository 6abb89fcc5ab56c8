#include "base/record/straggler_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/record/random_run.hpp"

namespace collbench::straggler_probe_test {
namespace {

using ::testing::HasSubstr;

TEST(RankProbeJson, WhatIsWrittenIsReadBack) {
  RandomRun random(9);
  for (int i = 0; i < 300; ++i) {
    const RankProbe probe = random.rank_probe();
    const auto document = nlohmann::json::parse(json_line(record_to_json(probe)));
    ASSERT_EQ(record_from_json<RankProbe>(JsonReader(document, "run.json")), probe);
  }
}

TEST(RankProbeJson, ColumnsOfDifferentLengthsAreRefused) {
  Json json = record_to_json(RankProbe{});
  json["ranks"]["rank"].push_back(0);
  const nlohmann::json document = json;
  try {
    static_cast<void>(record_from_json<RankProbe>(JsonReader(document, "run.json")));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("four arrays of one length"));
  }
}

TEST(AboveOthers, IsAgainstTheMedianOfTheOthers) {
  using ::testing::ElementsAre;
  EXPECT_THAT(above_others({}), ElementsAre());
  EXPECT_THAT(above_others({7}), ElementsAre(0));
  EXPECT_THAT(above_others({7, 4}), ElementsAre(3, -3));
  EXPECT_THAT(above_others({1, 10, 2}), ElementsAre(1 - 6, 10 - 1.5, 2 - 5.5));
  EXPECT_THAT(above_others({4, 1, 3, 2}), ElementsAre(4 - 2, 1 - 3, 3 - 2, 2 - 3));
}

TEST(StepVerdictJson, WhatIsWrittenIsReadBack) {
  const StepVerdict verdict{.word = StepWord::named,
                            .findings = {{StepCause::late, {3}, 1e-3, 0, "rank 3 is late"},
                                         {StepCause::link, {0, 4}, 0, 1.5, "a link"}},
                            .text = "and more"};
  const auto document = nlohmann::json::parse(json_line(record_to_json(verdict)));
  EXPECT_EQ(record_from_json<StepVerdict>(JsonReader(document, "run.json")), verdict);
  for (const char* const path : {"/verdict", "/findings/0/cause"}) {
    nlohmann::json other = document;
    other[nlohmann::json::json_pointer(path)] = "gone";
    EXPECT_THROW(static_cast<void>(record_from_json<StepVerdict>(JsonReader(other, "run.json"))), Error)
        << path;
  }
}

}  // namespace
}  // namespace collbench::straggler_probe_test
