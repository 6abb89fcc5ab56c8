#include "src/cli/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

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

toml::table parse_toml(std::string_view text, const std::string& file, const std::string& form) {
  const auto refusal = [&file](std::size_t line, const std::string& what, const std::string& next) {
    return usage_error(fmt::format("{}:{}", file, line), what, next);
  };
  if (const auto line = line_of_stray_character(text))
    throw refusal(*line, "a character beyond ASCII stands outside of quotes", form);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const std::string what(error.description());
    const auto line = error.source().begin.line;
    if (what.find("cannot redefine existing") == std::string::npos) throw refusal(line, what, form);
    throw refusal(line, fmt::format("{} is set twice", what.substr(std::min(what.size(), what.find('\'')))),
                  "set it once; a list is written \"a,b\" or [\"a\", \"b\"]");
  }
}

}  // namespace collbench::program
