#pragma once
#include <cstdint>

#include "analysis/verdict/verdict.hpp"

namespace collbench::analysis {

/// A size, of this and more, collapses where it takes so many times what its neighbors (and the model, where
/// there is one) allow.
inline constexpr double kCollapse = 3;
inline constexpr std::uint64_t kCollapseFrom = kMiB;

/// Whether a row was measured, and something is expected of it.
[[nodiscard]] bool has_expectation(const Row& row);

/// The first row that takes three times what the model expects, and either longer than a larger one or three
/// times what the sizes beside it make likely. Null where there is none.
[[nodiscard]] const Row* collapsed_row(const SizeSeries& series);

}  // namespace collbench::analysis
