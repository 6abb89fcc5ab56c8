#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace collbench {

/// "n1, n2, n3 and 12 more": the first `most` of the words, and how many there are beyond.
[[nodiscard]] std::string join_first(const std::vector<std::string>& words, std::size_t most,
                                     std::string_view separator = ", ");

}  // namespace collbench
