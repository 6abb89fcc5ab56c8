#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace collbench::program {

/// What toml++ 3.3 must not see, since it runs into undefined behavior at it; TOML allows neither.
struct TomlFlaw {
  std::size_t line = 1;  // from 1
  std::string_view what;
  bool operator==(const TomlFlaw&) const = default;
};

/// The first of these outside of strings and comments: a character beyond ASCII (toml++ fails at U+00A1 to
/// U+0499 at the start of a value: `is_non_ascii_horizontal_whitespace`), and a `[` at the start of a line
/// that neither a name nor `]` follows (`parse_table_header` asks `parse_key` for a key that is not there). A
/// line of an array of arrays that starts with `[`, where something other than a digit or a quote follows, is
/// taken for the latter.
[[nodiscard]] std::optional<TomlFlaw> toml_flaw(std::string_view text);

}  // namespace collbench::program
