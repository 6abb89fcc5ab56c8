#include "analysis/placement_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace collbench {
namespace {

constexpr std::size_t kRanksNamed = 4;

/// "rank 3: GPU3 (guess), mlx5_3, NUMA 0; 2 ranks share this GPU".
std::string words_of(const PlacedRank& placed) {
  std::string text = fmt::format("rank {}: {}", placed.rank, placed.gpu.empty() ? "no GPU" : placed.gpu);
  if (placed.guess) text += " (guess)";
  if (!placed.nic.empty()) text += ", " + placed.nic;
  if (placed.numa_node) text += fmt::format(", NUMA {}", *placed.numa_node);
  if (!placed.note.empty()) text += fmt::format(" ({})", placed.note);
  return text;
}

}  // namespace

std::string placement_words(const std::vector<PlacedRank>& placement) {
  std::vector<PlacedRank> known;
  const auto take = [&](auto fits) {
    std::copy_if(placement.begin(), placement.end(), std::back_inserter(known), fits);
  };
  take([](const PlacedRank& placed) { return !placed.note.empty(); });
  take([](const PlacedRank& placed) { return placed.note.empty() && !placed.gpu.empty(); });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(kRanksNamed, known.size()); ++i) words.push_back(words_of(known[i]));
  if (known.size() > kRanksNamed)
    words.push_back(fmt::format("{} more in the record", known.size() - kRanksNamed));
  return words.empty() ? "" : fmt::format("GPUs of the ranks: {}", fmt::join(words, "; "));
}

}  // namespace collbench
