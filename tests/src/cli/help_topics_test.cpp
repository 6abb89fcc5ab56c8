#include "src/cli/help.hpp"

#include <gmock/gmock.h>

#include <string>

#include "base/document/text_layout.hpp"

namespace collbench::program::help_topics_test {
namespace {

TEST(HelpTopics, EachIsFoundByItsNameAndFitsATerminal) {
  for (const HelpTopic& each : help_topics()) {
    EXPECT_EQ(help_topic(each.name), &each);
    for (std::size_t at = 0; at < each.text.size();) {
      const std::size_t end = each.text.find('\n', at);
      ASSERT_NE(end, std::string_view::npos) << each.name;
      EXPECT_LE(display_width(each.text.substr(at, end - at)), 80) << each.name;
      at = end + 1;
    }
  }
  EXPECT_EQ(help_topic("doctor"), nullptr);  // a command's help is its own
}

}  // namespace
}  // namespace collbench::program::help_topics_test
