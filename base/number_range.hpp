#pragma once

namespace collbench {

/// What a figure can be: `low` to `high`, and 0, which is "none" or "not known".
struct NumberRange {
  double low;
  double high;
  const char* words;  ///< for the error of one that is outside

  /// Not of a NaN.
  [[nodiscard]] constexpr bool contains(double value) const {
    return value == 0 || (value >= low && value <= high);
  }
};

/// No clock shows less than a picosecond, no run takes 300 years, and no machine that there is does 1e21 of
/// anything in a second.
inline constexpr NumberRange kSeconds{1e-12, 1e10, "0 or a time from 1e-12 to 1e10 seconds"};
inline constexpr NumberRange kRate{0, 1e21, "a rate from 0 to 1e21 per second"};
/// Two clocks that are compared may make a little more than 1 of a whole.
inline constexpr NumberRange kShare{0, 2, "a share from 0 to 2"};
inline constexpr NumberRange kQuantity{0, 1e21, "a number from 0 to 1e21"};
inline constexpr NumberRange kDifference{-1e10, 1e10, "a difference from -1e10 to 1e10"};

}  // namespace collbench
