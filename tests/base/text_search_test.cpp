#include "base/text_search.hpp"

#include <gtest/gtest.h>

namespace collbench::text_search_test {
namespace {

TEST(TextSearch, TakesWhatFollowsTheFirstMark) {
  EXPECT_EQ(text_behind("a=1 a=2", "a="), "1 a=2");
  EXPECT_EQ(text_behind("a=1 a=2", "a=", " ,"), "1");
  EXPECT_EQ(text_behind("a=1, a=2", "a=", " ,"), "1");
  EXPECT_EQ(text_behind("a=1", "a=", " ,"), "1");
  EXPECT_EQ(text_behind("a=", "a="), "");
  EXPECT_EQ(text_behind("a=1", ""), "a=1");
  EXPECT_EQ(text_behind("a=1", "b="), std::nullopt);
}

TEST(TextSearch, TakesWhatStandsBetweenTwoMarks) {
  EXPECT_EQ(text_between("]a [b] [c]", "[", "]"), "b");
  EXPECT_EQ(text_between("[]", "[", "]"), "");
  EXPECT_EQ(text_between("[b", "[", "]"), std::nullopt);
  EXPECT_EQ(text_between("b]", "[", "]"), std::nullopt);
}

TEST(TextSearch, ReadsNumbersWhateverFollowsThem) {
  EXPECT_EQ(leading_integer("  7[2]"), 7);
  EXPECT_EQ(leading_integer("\t0"), 0);
  EXPECT_EQ(leading_integer("-1"), std::nullopt);
  EXPECT_EQ(leading_integer("-1", -1), -1);
  EXPECT_EQ(leading_integer("9", 0, 8), std::nullopt);
  EXPECT_EQ(leading_integer("99999999999"), std::nullopt);
  EXPECT_EQ(leading_integer("x"), std::nullopt);
  EXPECT_EQ(leading_integer(""), std::nullopt);
  EXPECT_EQ(integer_behind("rank 3 nranks 16", " nranks "), 16);
  EXPECT_EQ(integer_behind("rank 3 nranks 16", " nranks ", 1, 8), std::nullopt);
  EXPECT_EQ(integer_behind("rank 3", " nranks "), std::nullopt);
  EXPECT_EQ(number_behind("bw 20.5/24", "bw "), 20.5);
  EXPECT_EQ(number_behind("bw -1", "bw "), std::nullopt);
  EXPECT_EQ(number_behind("bw 1", "speed "), std::nullopt);
}

}  // namespace
}  // namespace collbench::text_search_test
