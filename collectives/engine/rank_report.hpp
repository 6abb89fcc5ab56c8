#pragma once
#include <array>
#include <cstdint>

#include "base/record/measurement.hpp"
#include "collectives/engine/backend.hpp"

namespace collbench::collectives {

// What a rank tells the others after a block, as it travels.

/// What it found in the checks of a visit.
struct CheckResult {
  /// A number as text: at most the 20 digits of a uint64, or 9 of a float with its sign, point and exponent.
  using Number = std::array<char, 32>;

  CheckResult() = default;
  /// The first wrong element; the caller adds how many there are.
  explicit CheckResult(const Mismatch& found) : first_index(found.first_index) {
    found.expected.copy(expected.data(), expected.size() - 1);
    found.got.copy(got.data(), got.size() - 1);
  }

  std::uint64_t wrong_elements = 0;
  std::uint64_t first_index = 0;
  Number expected{};
  Number got{};
};

/// What it says to rank 0 of its own times.
struct RankReport {
  RankTimes times;
  bool interrupted = false;  ///< somebody asked this rank to end
};

}  // namespace collbench::collectives
