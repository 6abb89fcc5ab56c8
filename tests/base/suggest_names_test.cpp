#include "base/suggest_names.hpp"

#include <gmock/gmock.h>

namespace collbench::suggest_names_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearNames, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("hgx-h100", "hgx-h10"), 1U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);  // a swap is one mistake of a person who types
}

TEST(NearNames, GivesTheNearestFirst) {
  const std::vector<std::string> names{"dgx-1v", "hgx-a100", "hgx-h100", "hgx-h200", "p5"};
  EXPECT_THAT(suggest_names("hgx-h10", names), ElementsAre("hgx-h100", "hgx-a100", "hgx-h200"));
  EXPECT_THAT(suggest_names("h200", names), ElementsAre("hgx-h200"));  // a part of it
  EXPECT_THAT(suggest_names("toaster", names), IsEmpty());
  EXPECT_THAT(suggest_names("", names), IsEmpty());
}

TEST(NearNames, GivesFourAtMost) {
  EXPECT_EQ(suggest_names("ab", {"ab1", "ab2", "ab3", "ab4", "ab5"}).size(), 4U);
}

TEST(NearNames, NeighborsThatAreSwappedAreOneMistakeAndCapitalsNone) {
  EXPECT_EQ(edit_distance("shwo", "show"), 1U);
  EXPECT_EQ(edit_distance("reprot", "report"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // a swapped pair is not edited again
  EXPECT_THAT(suggest_names("shwo", {"show", "save"}), ElementsAre("show"));
  EXPECT_THAT(suggest_names("H100", {"hgx-h100", "dgx-a100"}), ElementsAre("hgx-h100"));
}

}  // namespace
}  // namespace collbench::suggest_names_test
