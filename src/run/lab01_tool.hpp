#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/record/run.hpp"
#include "src/cli/options.hpp"

// Pages of --preset lab01, which collbench lab01 writes: a program of its own. Its errors are ours.

namespace collbench::program {

/// The page of a run as "md" or "html".
[[nodiscard]] std::string page_of_lab01(const Run& run, const Lab01Request& request, std::string_view format);

/// That of ranks for which nothing has been measured, as Markdown. `machine`: its options (ClusterOptions).
[[nodiscard]] std::string expected_page_of_lab01(std::vector<std::string> machine,
                                                 const Lab01Request& request);

}  // namespace collbench::program
