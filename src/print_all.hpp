#pragma once
#include <string_view>

namespace collbench {

/// Writes all of `text` to stdout. Throws Error (usage) when it cannot: a full disk behind a redirection.
void print_all(std::string_view text);

}  // namespace collbench
