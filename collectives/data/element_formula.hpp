#pragma once
#include <cstddef>
#include <cstdint>

#include "base/deterministic_random.hpp"

// The formulas behind DataPattern, for the host's compiler and for nvcc (as constexpr functions on the
// device): both make the same bytes because both run these lines.

namespace collbench::collectives {

/// Columns in the table of reduced elements.
inline constexpr std::size_t kPatternColumns = 256;
/// Bytes of one cell of the table; an element stands in the first of them.
inline constexpr std::size_t kPatternCellBytes = 8;

/// What the element that `source` sends at `index` is before it becomes the element's type: below 2^`bits`.
[[nodiscard]] constexpr std::uint64_t moved_value(int source, std::uint64_t index, std::uint64_t iteration,
                                                  unsigned bits) {
  const std::uint64_t seed = (static_cast<std::uint64_t>(source) << 40U) ^ (iteration * kGolden);
  return mixed(index ^ seed) >> (64U - bits);
}

/// The column of the table for `index`: neighbors are far apart (multiplication by 2^64/φ, Knuth's hash). An
/// iteration has the columns of the one before, one further; after as many as there are columns, those of the
/// next elements.
[[nodiscard]] constexpr std::size_t pattern_column(std::uint64_t index, std::uint64_t iteration) {
  return static_cast<std::size_t>((((index + (iteration >> 8U)) * kGolden) >> 56U) + iteration) & 0xffU;
}

}  // namespace collbench::collectives
