#pragma once
#include <cstddef>
#include <cstdint>

// The formulas behind DataPattern, for the host's compiler and for nvcc (as constexpr functions on the
// device): both make the same bytes because both run these lines.

namespace collbench::collectives {

/// Columns in the table of reduced elements.
inline constexpr std::size_t kPatternColumns = 256;
/// Bytes of one cell of the table; an element stands in the first of them.
inline constexpr std::size_t kPatternCellBytes = 8;

/// The finaliser of MurmurHash3 (Appleby, public domain): every input bit changes every output bit.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdU;
  x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return x ^ (x >> 33U);
}

/// What the element that `source` sends at `index` is before it becomes the element's type: below 2^`bits`.
[[nodiscard]] constexpr std::uint64_t moved_value(int source, std::uint64_t index, std::uint64_t iteration,
                                                  unsigned bits) {
  const std::uint64_t seed = (static_cast<std::uint64_t>(source) << 40U) + (iteration << 56U);
  return mixed(index ^ seed) >> (64U - bits);
}

/// The column of the table for `index`: neighbours are far apart (multiplication by 2^64/φ, Knuth's hash).
[[nodiscard]] constexpr std::size_t pattern_column(std::uint64_t index, std::uint64_t iteration) {
  return static_cast<std::size_t>(((index * 0x9e3779b97f4a7c15U) >> 56U) + iteration) & 0xffU;
}

}  // namespace collbench::collectives
