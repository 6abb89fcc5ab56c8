#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace collbench {

/// A float of eight bits for the host, which has none: the OCP 8-bit Floating Point Specification 1.0. Sums
/// and products are made in float, and rounded where one is made of the result: to nearest, ties to even;
/// what is too large becomes the largest, as CUDA's __NV_SATFINITE does.
template <int mantissa_bits>
class Float8 {
  static_assert(mantissa_bits == 2 || mantissa_bits == 3);

 public:
  Float8() = default;
  template <typename Number>
  explicit Float8(Number value) : bits_(rounded(static_cast<float>(value))) {}

  // Implicit, as arithmetic types convert: what is computed with it is computed in float.
  operator float() const {  // NOLINT(google-explicit-constructor,hicpp-explicit-conversions)
    const float sign = (bits_ & 0x80U) != 0 ? -1.0F : 1.0F;
    const unsigned exponent = (bits_ & 0x7fU) >> static_cast<unsigned>(mantissa_bits);
    const unsigned mantissa = bits_ & (kOne - 1);
    if ((bits_ & 0x7fU) > kLargest) {
      const bool infinite = mantissa_bits == 2 && mantissa == 0;
      return sign *
             (infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN());
    }
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), kSmallest);
    return sign * std::ldexp(static_cast<float>(kOne + mantissa), kSmallest + static_cast<int>(exponent) - 1);
  }

 private:
  static constexpr unsigned kOne = 1U << static_cast<unsigned>(mantissa_bits);  // the bit before the point
  /// Exponent of the smallest subnormal: 2^-9 of E4M3, 2^-16 of E5M2.
  static constexpr int kSmallest = mantissa_bits == 3 ? -9 : -16;
  /// Bits of the largest number: 448 of E4M3, which has a NaN above it; 57344 of E5M2, with infinity and
  /// NaNs.
  static constexpr unsigned kLargest = mantissa_bits == 3 ? 0x7eU : 0x7bU;

  static std::uint8_t rounded(float value) {
    const unsigned sign = std::signbit(value) ? 0x80U : 0U;
    if (std::isnan(value)) return static_cast<std::uint8_t>(sign | 0x7fU);
    const float size = std::fabs(value);
    if (size == 0) return static_cast<std::uint8_t>(sign);
    if (std::isinf(size)) return static_cast<std::uint8_t>(sign | kLargest);
    // In steps of the last place: below 2 × kOne of them, or just that after rounding up, which the sum below
    // carries into the exponent.
    const int step = std::max(std::ilogb(size) - mantissa_bits, kSmallest);
    const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(size, -step)));
    const unsigned bits = static_cast<unsigned>(step - kSmallest) * kOne + steps;
    return static_cast<std::uint8_t>(sign | std::min(bits, kLargest));
  }

  std::uint8_t bits_ = 0;
};

using Float8E4M3 = Float8<3>;
using Float8E5M2 = Float8<2>;
static_assert(sizeof(Float8E4M3) == 1 && sizeof(Float8E5M2) == 1);

}  // namespace collbench
