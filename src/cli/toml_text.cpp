#include "src/cli/toml_text.hpp"

#include <algorithm>
#include <string>

namespace collbench::program {
namespace {

/// Of what begins at `at`, one or three quotes of the same kind; empty: no string.
std::string_view opening_quotes(std::string_view text, std::size_t at) {
  if (text[at] != '"' && text[at] != '\'') return {};
  const std::string three(3, text[at]);
  return text.substr(at, text.substr(at).starts_with(three) ? 3 : 1);
}

/// Behind the string that `quotes` at `at` open: at the end of the line for one that is not closed on it.
/// Three quotes may have one or two of the string's own before them.
std::size_t behind_string(std::string_view text, std::size_t at, std::string_view quotes) {
  at += quotes.size();
  while (at < text.size()) {
    if (text.substr(at).starts_with(quotes)) {
      at += quotes.size();
      return quotes.size() == 1 ? at : std::min(text.find_first_not_of(quotes.front(), at), text.size());
    }
    if (quotes.size() == 1 && text[at] == '\n') return at;
    at += text[at] == '\\' && quotes.front() == '"' ? 2 : 1;
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> line_of_stray_character(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (at < text.size()) {
    const std::string_view quotes = opening_quotes(text, at);
    if (!quotes.empty()) {
      at = behind_string(text, at, quotes);
    } else if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (static_cast<unsigned char>(text[at]) >= 0x80U) {
      return 1 + static_cast<std::size_t>(
                     std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace collbench::program
