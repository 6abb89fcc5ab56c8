#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace collbench {

/// Letters to insert, drop or change, or neighbors to swap, to make one word of the other (Levenshtein's
/// distance with swaps: optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Of `names` those that a person who wrote `word` may have meant, nearest first: at most a third of the
/// letters off, or one a part of the other, in capitals or not. At most four.
[[nodiscard]] std::vector<std::string> suggest_names(std::string_view word,
                                                     const std::vector<std::string>& names);

}  // namespace collbench
