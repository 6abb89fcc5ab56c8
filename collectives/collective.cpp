#include "collectives/collective.hpp"

#include <algorithm>

namespace collbench {

std::uint64_t count_for(const Operation& operation, std::uint64_t asked_bytes, std::size_t element_bytes,
                        int ranks) {
  if (asked_bytes == 0) return 0;
  const std::uint64_t parts =
      operation.size_meaning == SizeMeaning::total ? static_cast<std::uint64_t>(ranks) : 1;
  return std::max<std::uint64_t>(1, asked_bytes / element_bytes / parts);
}

}  // namespace collbench
