#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace collbench {

/// What separates the cells of a table whose heading this is: the first of tab, bar, comma and semicolon that
/// stands in it; a blank, which means any number of blanks and tabs, for none.
[[nodiscard]] char cell_separator(std::string_view heading);

/// The cells of one line, trimmed. A cell between commas, semicolons or tabs may stand in quotes, in which a
/// quote is written twice (RFC 4180); no cell goes over lines. The bars at the ends of a Markdown row are
/// none of its cells.
[[nodiscard]] std::vector<std::string> delimited_cells(std::string_view line, char separator);

/// The line below the heading of a Markdown table: "---", ":--:".
[[nodiscard]] bool is_markdown_rule(const std::vector<std::string>& cells);

}  // namespace collbench
