#include "tools/burnin/attribution/blame_words.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace collbench::analysis::blame_words_test {
namespace {

TEST(BlameWords, EachKindHasAStepThatNamesWho) {
  EXPECT_NE(technician_step(BlameKind::nic, "n3", 2).find("mlx5_2"), std::string::npos);
  EXPECT_NE(technician_step(BlameKind::node, "n3", 0).find("on n3"), std::string::npos);
  EXPECT_EQ(name(Bucket::not_tested), "not tested");
}

TEST(BlameWords, APathThatWasSlowInSomeLaunchesAloneWasMeasuredAlone) {
  Blame path{.kind = BlameKind::path, .nodes = {0, 1}, .rail = 0};
  EXPECT_TRUE(is_path_not_alone(path));
  path.alone_launches = 4;
  EXPECT_FALSE(is_path_not_alone(path));
  Attribution found;
  found.blames = {{.kind = BlameKind::path, .nodes = {0, 1}, .rail = 0},
                  {.kind = BlameKind::node, .nodes = {2}, .rail = 0}};
  EXPECT_EQ(with_such_paths_last(found).front().kind, BlameKind::node);
}

TEST(BlameWords, AFindingIsOfATimeOrOfWhatWasMeasured) {
  Blame blame{.kind = BlameKind::nic, .times_slower = 2, .line = 1.05, .evidence = "n3 rail 1"};
  EXPECT_EQ(blame_words(blame),
            "NIC, 2.00 times the time of its like (line 1.05), not confirmed alone: n3 rail 1");
  blame.against_expected = true;
  blame.confirmed = true;
  EXPECT_EQ(blame_words(blame),
            "NIC, 2.00 times the time of what is expected (line 1.05), confirmed alone: n3 rail 1");
  blame.measure = "1 % of what it sends is sent again";
  EXPECT_EQ(blame_words(blame), "NIC, 1 % of what it sends is sent again, confirmed alone: n3 rail 1");
}

TEST(BlameWords, WhatNobodyCanReadIsTooWide) {
  EXPECT_THAT(blind_words(std::log(3e5)), testing::HasSubstr("scatter too widely"));
}

TEST(BlameWords, TheSameOfManyIsSaidOnce) {
  const ReportLines lines = said_once({{"n0", "suspect: no GPU", Tone::warning},
                                       {"ad", "bad: slow"},
                                       {"n2", "suspect: no GPU", Tone::warning},
                                       {"ad", "bad: slow"}});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].text, "n0, n2 suspect: no GPU");
  EXPECT_EQ(lines[0].tone, Tone::warning);
  EXPECT_EQ(lines[1].text, "ad bad: slow");
}

}  // namespace
}  // namespace collbench::analysis::blame_words_test
