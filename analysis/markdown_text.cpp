#include "analysis/markdown_text.hpp"

#include "analysis/text_layout.hpp"

namespace collbench {

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*<>|[]~_";
  std::string result;
  for (const char letter : one_line(text)) {
    if (kSpecial.find(letter) != std::string_view::npos) result += '\\';
    result += letter;
  }
  return result;
}

}  // namespace collbench
