#pragma once
#include <string>

#include "base/record/run.hpp"

namespace collbench::program {

/// Of this program and of the libraries that it runs with.
[[nodiscard]] Versions versions();

/// What --version prints: the versions, and what this build has switched off.
[[nodiscard]] std::string version_text();

}  // namespace collbench::program
