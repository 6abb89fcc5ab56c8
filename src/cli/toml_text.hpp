#pragma once
#include <toml++/toml.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace collbench::program {

/// toml++ makes a table of each part of a key such as a.b.c, and takes a stack frame for each when they go:
/// without optimization, a stack of 8 MiB holds 16,000 parts and not 32,000. So large a text has at most
/// 8,000.
inline constexpr std::size_t kMaxTomlBytes = std::size_t{16} << 10U;

/// Throws Error (usage) with file and line for what is no TOML, and a key that is set twice; `form` says what
/// to write.
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& file, const std::string& form);

/// The line, from 1, of the first character beyond ASCII that is in no string and no comment. TOML allows
/// none there, and toml++ 3.3 runs into undefined behavior at some (U+00A1 to U+0499 at the start of a value:
/// `is_non_ascii_horizontal_whitespace`), so it never sees such a text.
[[nodiscard]] std::optional<std::size_t> line_of_stray_character(std::string_view text);

}  // namespace collbench::program
