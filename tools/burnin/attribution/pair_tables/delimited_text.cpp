#include "tools/burnin/attribution/pair_tables/delimited_text.hpp"

#include <algorithm>

#include "base/text_input.hpp"

namespace collbench {
namespace {

std::vector<std::string> quoted_cells(std::string_view text, char separator) {
  std::vector<std::string> cells{""};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      cells.back() += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == separator && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += text[i];
    }
  }
  for (std::string& cell : cells) cell = std::string(trim(cell));
  return cells;
}

}  // namespace

char cell_separator(std::string_view heading) {
  for (const char separator : {'\t', '|', ',', ';'}) {
    if (heading.find(separator) != std::string_view::npos) return separator;
  }
  return ' ';
}

std::vector<std::string> delimited_cells(std::string_view line, char separator) {
  if (separator == ' ') return split_words(line);
  if (separator != '|') return quoted_cells(line, separator);
  line = trim(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  return split_cells(line, '|');
}

bool is_markdown_rule(const std::vector<std::string>& cells) {
  return !cells.empty() && std::ranges::all_of(cells, [](const std::string& cell) {
    return cell.size() > 1 && cell.find_first_not_of(":-") == std::string::npos;
  });
}

}  // namespace collbench
