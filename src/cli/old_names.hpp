#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace collbench::program {

/// Commands that others have taken in, by the names that they had, for this release: where one stands at
/// `at`, `words` become those of today, and a line for stderr says so; else it is empty. Throws Error (usage)
/// for `ab` without --versus.
[[nodiscard]] std::string take_current_names(std::vector<std::string>& words, std::size_t at);

}  // namespace collbench::program
