#pragma once
#include <string>

#include "base/record/run.hpp"
#include "src/cli/options.hpp"

namespace collbench::program {

/// Lab 01 of a run as Markdown. The machine is that of `request.topology`, else that of an imported log's own
/// --topology: a reference machine's name, or a file. Throws Error (usage) for one that is neither.
[[nodiscard]] std::string lab01(const Run& run, const Lab01Request& request);

}  // namespace collbench::program
