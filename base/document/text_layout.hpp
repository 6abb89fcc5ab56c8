#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_sinks.hpp"

namespace collbench {

/// Columns that `text` takes on a terminal: its code points. True for what reports are made of ("µ", "±", "–"
/// take one); a wide East Asian letter in a host's name counts as one as well.
[[nodiscard]] int display_width(std::string_view text);

// All of these take a part of a line (one_line): what others wrote cannot begin a line of its own in a table.

/// `text` with spaces before, or behind it, up to `width` columns.
[[nodiscard]] std::string pad_left(std::string_view text, int width);
[[nodiscard]] std::string pad_right(std::string_view text, int width);

/// `text` in at most `width` columns, "…" in place of the end that does not fit.
[[nodiscard]] std::string shorten(std::string_view text, int width);

/// `text` broken between words into lines of at most `width` columns, each with its newline: the first
/// behind `first`, the others behind `rest`. A longer word is broken where the line ends.
[[nodiscard]] std::string wrap(std::string_view text, int width, std::string_view first,
                               std::string_view rest);

using TextTable = std::vector<std::vector<std::string>>;

/// Rows of cells as lines, each behind `indent`; the first `left` columns and the last `right` are words, the
/// others numbers.
[[nodiscard]] std::string table_lines(const TextTable& table, std::size_t left, std::size_t right = 0,
                                      std::string_view indent = "  ");

/// What fits a page is found by these: the columns' widths, those of a whole line with the usual indent.
[[nodiscard]] std::vector<int> column_widths(const TextTable& table);
[[nodiscard]] int table_width(const TextTable& table);
void drop_column(TextTable& table, std::size_t column);

}  // namespace collbench
