#pragma once
#include <string_view>

namespace collbench::program {

/// "0.2.0", "0.2.0+5.gCOMMIT", "0.1.0-dev.gCOMMIT": of these sources. Its definition is written at each build
/// (cmake/WriteVersion.cmake says which is which), so that a commit compiles that one file anew and no other.
[[nodiscard]] std::string_view version_number();

}  // namespace collbench::program
