#include "analysis/markdown_text.hpp"

#include <gtest/gtest.h>

namespace collbench::markdown_text_test {
namespace {

TEST(MarkdownText, NothingIsMarkup) {
  EXPECT_EQ(markdown_text("a_b|c*<d>\n[e]"), "a\\_b\\|c\\*\\<d\\> \\[e\\]");
  EXPECT_EQ(markdown_text("2(p − 1)/p"), "2(p − 1)/p");
}

}  // namespace
}  // namespace collbench::markdown_text_test
