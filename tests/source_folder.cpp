#include "tests/source_folder.hpp"

namespace collbench {

std::string source_folder() { return COLLBENCH_SOURCE_FOLDER; }

}  // namespace collbench
