#include "base/suggest_names.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text_input.hpp"

namespace collbench {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Distances of the letters of a so far to each start of b: of one letter less, and of two.
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> before = row;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::size_t> next(b.size() + 1);
    next[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = std::min({row[j] + (a[i] == b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(row, std::move(next));
  }
  return row.back();
}

std::vector<std::string> suggest_names(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNames = 4;
  std::vector<std::pair<std::size_t, std::string>> near;
  const std::string small_word = lower(word);
  for (const std::string& name : names) {
    const std::string small_name = lower(name);
    const std::size_t distance = edit_distance(small_word, small_name);
    const bool part = word.size() > 1 && (small_name.find(small_word) != std::string::npos ||
                                          small_word.find(small_name) != std::string::npos);
    if (part || 3 * distance <= std::max(word.size(), name.size())) near.emplace_back(distance, name);
  }
  std::ranges::sort(near);
  near.resize(std::min(near.size(), kMaxNames));
  std::vector<std::string> result;
  for (auto& [distance, name] : near) result.push_back(std::move(name));
  return result;
}

}  // namespace collbench
