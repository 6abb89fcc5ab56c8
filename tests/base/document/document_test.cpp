#include "base/document/document.hpp"

#include <gtest/gtest.h>

namespace collbench::document_test {
namespace {

TEST(Document, AsMarkdownNothingInItIsMarkup) {
  const ReportTable table{.headings = {"a", "b", "c", "d"},
                          .rows = {{"x|y", "w", "1", {"*", "alarm"}}, {"", "w", "2", "end"}},
                          .left = 2,
                          .right = 1};
  const Document document{"A `title`", {{"One", {"A [b](c).", ReportList{"- 1", "2"}, table}}, {"Two", {}}}};
  EXPECT_EQ(markdown(document),
            "# A \\`title\\`\n\n## One\nA \\[b\\](c).\n\n- \\- 1\n- 2\n\n"
            "| a | b | c | d |\n| --- | --- | ---: | --- |\n| x\\|y | w | 1 | **\\*** |\n|  | w | 2 | end |\n"
            "\n## Two\n");
}

}  // namespace
}  // namespace collbench::document_test
