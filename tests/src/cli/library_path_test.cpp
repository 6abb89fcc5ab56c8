#include "src/cli/library_path.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace collbench::program {
namespace {

TEST(LibraryPath, PartsThatNameTheCurrentDirectoryAreLeftOut) {
  for (const auto& [given, kept] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {":", ""},
           {";", ""},
           {"/a:", "/a"},
           {":/a", "/a"},
           {"/a::/b", "/a:/b"},
           {"/a;/b", "/a:/b"},
           {".", ""},
           {"lib:/a", "/a"},
           {"/a:./lib", "/a"},
           {"$LIB:/a", "/a"},
           {"$ORIGIN/lib:${ORIGIN}:/a", "$ORIGIN/lib:${ORIGIN}:/a"}}) {
    EXPECT_EQ(absolute_parts(given), kept) << given;
    EXPECT_EQ(absolute_parts(kept), kept) << "and is left alone";
  }
}

}  // namespace
}  // namespace collbench::program
