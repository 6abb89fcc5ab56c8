#pragma once
#include <string>

namespace collbench {

/// The top folder of the repository, where the fixtures of the tests are.
[[nodiscard]] std::string source_folder();

}  // namespace collbench
