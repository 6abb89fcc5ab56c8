#pragma once
#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace collbench::topology {

/// Thousands of texts, looked for in a line at once by their first bytes. The texts must outlive the index.
class TextIndex {
 public:
  static constexpr std::size_t kMinBytes = 6;  ///< of a text

  explicit TextIndex(const std::vector<std::string_view>& texts) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].size() < kMinBytes) {
        short_.push_back(i);
        continue;
      }
      by_start_[start_of(texts[i])].emplace_back(texts[i], i);
      may_start_[hash_of(start_of(texts[i]))] = true;
    }
  }

  /// The numbers of the texts that stand in `line`, ascending, and of those that are too short to be known.
  [[nodiscard]] std::vector<std::size_t> found_in(std::string_view line) const {
    std::vector<std::size_t> found = short_;
    for (; line.size() >= kMinBytes; line.remove_prefix(1)) {
      if (!may_start_[hash_of(start_of(line))]) continue;
      const auto texts = by_start_.find(start_of(line));
      if (texts == by_start_.end()) continue;
      for (const auto& [text, number] : texts->second)
        if (line.starts_with(text)) found.push_back(number);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  static std::uint64_t start_of(std::string_view text) {
    std::uint64_t start = 0;
    std::memcpy(&start, text.data(), kMinBytes);
    return start;
  }
  static std::size_t hash_of(std::uint64_t start) { return start * 0x9E3779B97F4A7C15U >> 48U; }

  std::bitset<65536> may_start_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::string_view, std::size_t>>> by_start_;
  std::vector<std::size_t> short_;
};

}  // namespace collbench::topology
