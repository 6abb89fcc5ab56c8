#include "src/cli/old_names.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace collbench::program::old_names_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Given = std::vector<std::string>;

Given current(Given words) {
  EXPECT_NE(take_current_names(words, 0), "");
  return words;
}

TEST(OldNames, AreReplacedAndSaid) {
  Given words{"-v", "import", "a.log", "--nodes", "2"};
  EXPECT_EQ(take_current_names(words, 1),
            "collbench: collbench import is collbench judge FILE... now; the old name is removed in the next "
            "release");
  EXPECT_THAT(words, ElementsAre("-v", "judge", "--apart", "a.log", "--nodes", "2"));
  EXPECT_THAT(current({"ab", "--", "a", "--versus", "b"}), ElementsAre("repeat", "--", "a", "--versus", "b"));
  EXPECT_THAT(current({"baseline", "show", "dir"}), ElementsAre("compare", "dir"));
  EXPECT_THAT(current({"baseline", "add", "dir", "a"}), ElementsAre("compare", "--add", "dir", "a"));
  EXPECT_THAT(current({"baseline", "check", "--add", "dir", "a"}),
              ElementsAre("compare", "dir", "a", "--add"))
      << "before the folder it would only add";
  EXPECT_THAT(current({"baseline", "--help"}), ElementsAre("compare", "--help"));
}

TEST(OldNames, OtherWordsStayAsTheyAre) {
  const Given words{"judge", "import", "ab"};
  Given same = words;
  EXPECT_EQ(take_current_names(same, 0), "");
  EXPECT_EQ(take_current_names(same, 3), "");
  EXPECT_EQ(same, words);
}

TEST(OldNames, ACommandAloneIsNotComparedWithAnother) {
  for (Given words : {Given{"ab", "--", "true"}, {"ab", "a", "b"}}) {
    try {
      static_cast<void>(take_current_names(words, 0));
      FAIL();
    } catch (const Error& error) {
      EXPECT_THAT(describe(error), HasSubstr("--versus has to stand once between two commands"));
    }
  }
}

}  // namespace
}  // namespace collbench::program::old_names_test
