#include "analysis/attribution/blame_words.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace collbench::analysis::blame_words_test {
namespace {

TEST(BlameWords, EachKindHasAStepThatNamesWho) {
  EXPECT_EQ(percent_slower(std::log(1.5)), "+50.0 %");
  EXPECT_NE(technician_step(BlameKind::nic, "n3", 2).find("mlx5_2"), std::string::npos);
  EXPECT_NE(technician_step(BlameKind::node, "n3", 0).find("on n3"), std::string::npos);
  EXPECT_EQ(name(Bucket::not_tested), "not tested");
}

}  // namespace
}  // namespace collbench::analysis::blame_words_test
