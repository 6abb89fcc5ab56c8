#include "base/document/text_layout.hpp"

#include <algorithm>

namespace collbench {

namespace {

/// Whether this byte of UTF-8 starts a code point.
bool starts_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// Bytes of the first `width` code points of `text`.
std::size_t bytes_of(std::string_view text, int width) {
  std::size_t bytes = 0;
  for (; bytes < text.size(); ++bytes) {
    if (starts_letter(text[bytes]) && width-- <= 0) break;
  }
  return bytes;
}

std::string spaces(std::string_view text, int width) {
  return std::string(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
}

}  // namespace

int display_width(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(text, starts_letter));
}

std::string pad_left(std::string_view text, int width) {
  const std::string shown = one_line(text);
  return spaces(shown, width) + shown;
}

std::string pad_right(std::string_view text, int width) {
  const std::string shown = one_line(text);
  return shown + spaces(shown, width);
}

std::string shorten(std::string_view text, int width) {
  std::string shown = one_line(text);
  if (display_width(shown) <= width) return shown;
  return shown.substr(0, bytes_of(shown, width - 1)) + (width > 0 ? "…" : "");
}

std::string wrap(std::string_view text, int width, std::string_view first, std::string_view rest) {
  const std::string words = one_line(text);
  std::string_view left(words);
  std::string result;
  std::string line(first);
  bool line_has_word = false;
  const auto end_line = [&] {
    result += line + "\n";
    line = rest;
    line_has_word = false;
  };
  while (true) {
    left.remove_prefix(std::min(left.find_first_not_of(' '), left.size()));
    if (left.empty()) break;
    const std::string_view word = left.substr(0, left.find(' '));
    const int room = width - display_width(line) - (line_has_word ? 1 : 0);
    if (display_width(word) > room && line_has_word) {
      end_line();
      continue;
    }
    if (line_has_word) line += ' ';
    const std::string_view fits = word.substr(0, bytes_of(word, std::max(1, room)));
    line += fits;
    line_has_word = true;
    left.remove_prefix(fits.size());
    if (fits.size() < word.size()) end_line();
  }
  if (line_has_word || result.empty()) end_line();
  return result;
}

std::vector<int> column_widths(const TextTable& table) {
  std::vector<int> widths;
  for (const auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(one_line(row[i])));
  }
  return widths;
}

int table_width(const TextTable& table) {
  int width = 0;
  for (const int column : column_widths(table)) width += 2 + column;
  return width;
}

void drop_column(TextTable& table, std::size_t column) {
  for (auto& row : table) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
}

std::string table_lines(const TextTable& table, std::size_t left, std::size_t right,
                        std::string_view indent) {
  const std::vector<int> widths = column_widths(table);
  std::string text;
  for (const auto& row : table) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_words = i < left || i + right >= widths.size();
      line += (i > 0 ? "  " : "") + (is_words ? pad_right(row[i], widths[i]) : pad_left(row[i], widths[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace collbench
