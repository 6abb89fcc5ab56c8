#pragma once
#include <string>
#include <string_view>

namespace collbench {

/// `text` so that GitHub shows every character of it as it is, on one line.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace collbench
