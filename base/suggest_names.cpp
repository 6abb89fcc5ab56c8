#include "base/suggest_names.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace collbench {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // distances of the letters of a so far to each start of b
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> suggest_names(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNames = 4;
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(word, name);
    const bool part = word.size() > 1 &&
                      (name.find(word) != std::string::npos || word.find(name) != std::string_view::npos);
    if (part || 3 * distance <= std::max(word.size(), name.size())) near.emplace_back(distance, name);
  }
  std::sort(near.begin(), near.end());
  near.resize(std::min(near.size(), kMaxNames));
  std::vector<std::string> result;
  for (auto& [distance, name] : near) result.push_back(std::move(name));
  return result;
}

}  // namespace collbench
