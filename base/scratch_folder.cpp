#include "base/scratch_folder.hpp"

#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "base/error.hpp"

namespace collbench {

ScratchFolder::ScratchFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "collbench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw usage_error(pattern, "cannot create a folder there", "set TMPDIR to a writable folder");
  }
  folder_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace collbench
