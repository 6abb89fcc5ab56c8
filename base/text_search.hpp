#pragma once
#include <limits>
#include <optional>
#include <string_view>

// What stands behind a mark in a line of foreign text. The first such mark counts; none where there is none.

namespace collbench {

/// Up to one of the characters in `ends`, or to the end.
[[nodiscard]] std::optional<std::string_view> text_behind(std::string_view text, std::string_view mark,
                                                          std::string_view ends = "");

/// Up to the next `after`; none where that is missing, too.
[[nodiscard]] std::optional<std::string_view> text_between(std::string_view text, std::string_view before,
                                                           std::string_view after);

/// The integer at the start of `text`, behind blanks, whatever follows it; none outside [least, most].
[[nodiscard]] std::optional<int> leading_integer(std::string_view text, int least = 0,
                                                 int most = std::numeric_limits<int>::max());

[[nodiscard]] std::optional<int> integer_behind(std::string_view text, std::string_view mark, int least = 0,
                                                int most = std::numeric_limits<int>::max());

/// As leading_number() reads it.
[[nodiscard]] std::optional<double> number_behind(std::string_view text, std::string_view mark);

}  // namespace collbench
