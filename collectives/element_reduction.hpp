#pragma once
#include <cstddef>
#include <type_traits>

#include "base/record/data_type.hpp"

namespace collbench {

/// a ∘ b of one element. Integers wrap around; floats of 16 and 8 bits are computed in float and rounded
/// once. avg is a sum here: scale_average makes it one at the end.
template <typename Element>
[[nodiscard]] Element reduced(Reduction reduction, Element a, Element b) {
  switch (reduction) {
    case Reduction::min:
      return b < a ? b : a;
    case Reduction::max:
      return a < b ? b : a;
    case Reduction::prod:
      if constexpr (std::is_integral_v<Element>) {
        // Widened by 1U: signed overflow is undefined, and uint16/uint8 would be promoted to a signed int.
        return static_cast<Element>(1U * static_cast<std::make_unsigned_t<Element>>(a) *
                                    static_cast<std::make_unsigned_t<Element>>(b));
      } else {
        return static_cast<Element>(a * b);
      }
    case Reduction::sum:
    case Reduction::avg:
      break;
  }
  if constexpr (std::is_integral_v<Element>) {
    return static_cast<Element>(static_cast<std::make_unsigned_t<Element>>(a) +
                                static_cast<std::make_unsigned_t<Element>>(b));
  } else {
    return static_cast<Element>(a + b);
  }
}

/// sum / ranks: integers are truncated, floats rounded once (those of 16 and 8 bits divide in float).
template <typename Element>
[[nodiscard]] Element averaged(Element sum, int ranks) {
  if constexpr (std::is_integral_v<Element>) {
    // int8 ÷ 200 ranks must not wrap the divisor; long holds every divisor and every signed sum.
    if constexpr (std::is_signed_v<Element>) return static_cast<Element>(static_cast<long>(sum) / ranks);
    return static_cast<Element>(static_cast<unsigned long>(sum) / static_cast<unsigned long>(ranks));
  } else if constexpr (sizeof(Element) <= 2) {
    return static_cast<Element>(static_cast<float>(sum) / static_cast<float>(ranks));
  } else {
    return sum / static_cast<Element>(ranks);
  }
}

}  // namespace collbench
