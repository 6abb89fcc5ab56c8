#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace collbench {

/// The words of an enumeration as records have them and people read them, in the order of its enumerators,
/// which follow each other from 0. None: it has no words here.
template <class Word>
inline constexpr std::array<std::string_view, 0> kWords{};

template <class Word>
concept HasWords = !kWords<Word>.empty();

template <HasWords Word>
[[nodiscard]] constexpr std::string_view name(Word word) {
  return kWords<Word>.at(static_cast<std::size_t>(word));
}

}  // namespace collbench
