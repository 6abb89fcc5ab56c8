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

/// Whether what follows a `[` at `at` can be the name of a table, or closes it.
bool table_name_follows(std::string_view text, std::size_t at) {
  constexpr std::string_view kBlanks = " \t";
  at = text.find_first_not_of(kBlanks, at + 1);
  if (at != std::string_view::npos && text[at] == '[') at = text.find_first_not_of(kBlanks, at + 1);
  if (at == std::string_view::npos) return false;
  constexpr std::string_view kOthers = "-_\"']";
  const char next = text[at];
  return (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9') ||
         kOthers.find(next) != std::string_view::npos;
}

}  // namespace

std::optional<TomlFlaw> toml_flaw(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  std::size_t line = 1;
  bool line_start = true;
  while (at < text.size()) {
    const std::string_view quotes = opening_quotes(text, at);
    if (!quotes.empty()) {
      const std::size_t end = behind_string(text, at, quotes);
      line += static_cast<std::size_t>(std::ranges::count(text.substr(at, end - at), '\n'));
      at = end;
      line_start = false;
      continue;
    }
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (static_cast<unsigned char>(text[at]) >= 0x80U) {
      return TomlFlaw{.line = line, .what = "a character beyond ASCII stands outside of quotes"};
    }
    if (line_start && text[at] == '[' && !table_name_follows(text, at)) {
      return TomlFlaw{.line = line, .what = "no name of a table follows the ["};
    }
    if (text[at] == '\n') {
      ++line;
      line_start = true;
    } else if (text[at] != ' ' && text[at] != '\t' && text[at] != '\r') {
      line_start = false;
    }
    ++at;
  }
  return std::nullopt;
}

}  // namespace collbench::program
