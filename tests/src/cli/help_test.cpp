#include "src/cli/help.hpp"

#include <gmock/gmock.h>

#include <string>

namespace collbench::program::help_test {
namespace {

TEST(WrappedHelp, ALongDescriptionGoesOnBelowItsBeginning) {
  const std::string words = "one two three four five six seven eight nine ten eleven twelve";
  EXPECT_EQ(wrapped_help("  --name N       " + words + "\n", 60),
            "  --name N       one two three four five six seven eight\n"
            "                 nine ten eleven twelve\n");
}

TEST(WrappedHelp, ShortLinesStayAndProseGoesOnAtItsMargin) {
  EXPECT_EQ(wrapped_help("Options:\n  -n   short\n\n", 80), "Options:\n  -n   short\n\n");
  EXPECT_EQ(wrapped_help(std::string(40, 'a') + " " + std::string(30, 'b'), 60),
            std::string(40, 'a') + "\n" + std::string(30, 'b') + "\n");
}

TEST(WrappedHelp, IsBetween60And100ColumnsWide) {
  const std::string line(130, 'x');
  EXPECT_EQ(wrapped_help(line, 200).find('\n'), 100U);
  EXPECT_EQ(wrapped_help(line, 10).find('\n'), 60U);
}

}  // namespace
}  // namespace collbench::program::help_test
