#include "base/word_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace collbench {

std::string join_first(const std::vector<std::string>& words, std::size_t most, std::string_view separator) {
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(most, words.size()));
  return fmt::format("{}{}", fmt::join(words.begin(), end, separator),
                     words.size() > most ? fmt::format(" and {} more", words.size() - most) : "");
}

}  // namespace collbench
