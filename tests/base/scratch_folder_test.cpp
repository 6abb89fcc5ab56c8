
#include <gtest/gtest.h>

#include "base/files.hpp"

namespace collbench {
namespace {

TEST(ScratchFolder, GoesWithItsContents) {
  std::string file;
  {
    const ScratchFolder folder;
    file = folder.file("a.txt");
    write_file_by_rename(file, "a");
    EXPECT_TRUE(std::filesystem::exists(file));
    EXPECT_NE(ScratchFolder().file("a.txt"), file);
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(file).parent_path()));
}

}  // namespace
}  // namespace collbench
