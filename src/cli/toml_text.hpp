#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace collbench::program {

/// The line, from 1, of the first character beyond ASCII that is in no string and no comment. TOML allows
/// none there, and toml++ 3.3 runs into undefined behavior at some (U+00A1 to U+0499 at the start of a value:
/// `is_non_ascii_horizontal_whitespace`), so it never sees such a text.
[[nodiscard]] std::optional<std::size_t> line_of_stray_character(std::string_view text);

}  // namespace collbench::program
