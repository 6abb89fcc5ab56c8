#include "collectives/collective.hpp"

#include <algorithm>

namespace collbench {

std::uint64_t elements_per_part(std::uint64_t asked_bytes, std::size_t element_bytes, int parts) {
  if (asked_bytes == 0) return 0;
  return std::max<std::uint64_t>(1, asked_bytes / element_bytes / static_cast<std::uint64_t>(parts));
}

}  // namespace collbench
