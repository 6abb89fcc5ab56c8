#include "base/text_search.hpp"

#include <charconv>

#include "base/text_input.hpp"

namespace collbench {

std::optional<std::string_view> text_behind(std::string_view text, std::string_view mark,
                                            std::string_view ends) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find_first_of(ends));
}

std::optional<std::string_view> text_between(std::string_view text, std::string_view before,
                                             std::string_view after) {
  const auto rest = text_behind(text, before);
  const std::size_t end = rest ? rest->find(after) : std::string_view::npos;
  return end == std::string_view::npos ? std::nullopt : std::optional(rest->substr(0, end));
}

std::optional<int> leading_integer(std::string_view text, int least, int most) {
  text = trim(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

std::optional<int> integer_behind(std::string_view text, std::string_view mark, int least, int most) {
  const auto rest = text_behind(text, mark);
  return rest ? leading_integer(*rest, least, most) : std::nullopt;
}

std::optional<double> number_behind(std::string_view text, std::string_view mark) {
  const auto rest = text_behind(text, mark);
  return rest ? leading_number(*rest) : std::nullopt;
}

}  // namespace collbench
