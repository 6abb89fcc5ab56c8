#include "src/options/run_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/units.hpp"

namespace collbench::program {

std::vector<std::uint64_t> sizes_bytes(const SizeOptions& sizes, std::uint64_t default_last) {
  if (!sizes.list.empty()) return sizes.list;
  const std::uint64_t last = sizes.last.value_or(std::max(default_last, sizes.first));
  if (sizes.first > last) {
    throw usage_error("-b", fmt::format("{} is above -e {}", format_bytes(sizes.first), format_bytes(last)),
                      "give a -b that is at most -e");
  }
  if (sizes.step) return collectives::arithmetic_sizes(sizes.first, last, *sizes.step);
  return collectives::geometric_sizes(sizes.first, last, sizes.factor);
}

}  // namespace collbench::program
