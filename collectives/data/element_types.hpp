#pragma once
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "base/record/data_type.hpp"

namespace collbench::collectives {

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
    if ((bits_ & 0x7fU) > kMaxSize) {
      const bool infinite = mantissa_bits == 2 && mantissa == 0;
      return sign *
             (infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN());
    }
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), kMinSize);
    return sign * std::ldexp(static_cast<float>(kOne + mantissa), kMinSize + static_cast<int>(exponent) - 1);
  }

 private:
  static constexpr unsigned kOne = 1U << static_cast<unsigned>(mantissa_bits);  // the bit before the point
  /// Exponent of the smallest subnormal: 2^-9 of E4M3, 2^-16 of E5M2.
  static constexpr int kMinSize = mantissa_bits == 3 ? -9 : -16;
  /// Bits of the largest number: 448 of E4M3, which has a NaN above it; 57344 of E5M2, with infinity and
  /// NaNs.
  static constexpr unsigned kMaxSize = mantissa_bits == 3 ? 0x7eU : 0x7bU;

  static std::uint8_t rounded(float value) {
    const unsigned sign = std::signbit(value) ? 0x80U : 0U;
    if (std::isnan(value)) return static_cast<std::uint8_t>(sign | 0x7fU);
    const float size = std::fabs(value);
    if (size == 0) return static_cast<std::uint8_t>(sign);
    if (std::isinf(size)) return static_cast<std::uint8_t>(sign | kMaxSize);
    // In steps of the last place: below 2 × kOne of them, or just that after rounding up, which the sum below
    // carries into the exponent.
    const int step = std::max(std::ilogb(size) - mantissa_bits, kMinSize);
    const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(size, -step)));
    const unsigned bits = static_cast<unsigned>(step - kMinSize) * kOne + steps;
    return static_cast<std::uint8_t>(sign | std::min(bits, kMaxSize));
  }

  std::uint8_t bits_ = 0;
};

using Float8E4M3 = Float8<3>;
using Float8E5M2 = Float8<2>;
static_assert(sizeof(Float8E4M3) == 1 && sizeof(Float8E5M2) == 1);

/// Calls `work` with a std::type_identity of the C++ type that holds elements of `type`.
template <typename Work>
decltype(auto) with_element_type(DataType type, Work&& work) {
  switch (type) {
    case DataType::int8:
      return std::forward<Work>(work)(std::type_identity<std::int8_t>());
    case DataType::uint8:
      return std::forward<Work>(work)(std::type_identity<std::uint8_t>());
    case DataType::int32:
      return std::forward<Work>(work)(std::type_identity<std::int32_t>());
    case DataType::uint32:
      return std::forward<Work>(work)(std::type_identity<std::uint32_t>());
    case DataType::int64:
      return std::forward<Work>(work)(std::type_identity<std::int64_t>());
    case DataType::uint64:
      return std::forward<Work>(work)(std::type_identity<std::uint64_t>());
    case DataType::float16:
      return std::forward<Work>(work)(std::type_identity<Eigen::half>());
    case DataType::float32:
      return std::forward<Work>(work)(std::type_identity<float>());
    case DataType::float64:
      return std::forward<Work>(work)(std::type_identity<double>());
    case DataType::float8_e4m3:
      return std::forward<Work>(work)(std::type_identity<Float8E4M3>());
    case DataType::float8_e5m2:
      return std::forward<Work>(work)(std::type_identity<Float8E5M2>());
    case DataType::bfloat16:
      return std::forward<Work>(work)(std::type_identity<Eigen::bfloat16>());
  }
  throw Error(ExitStatus::not_here, "-d", "the host has no arithmetic for this type", "choose another -d");
}

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
      if constexpr (std::is_integral_v<Element>) {
        return static_cast<Element>(static_cast<std::make_unsigned_t<Element>>(a) +
                                    static_cast<std::make_unsigned_t<Element>>(b));
      } else {
        return static_cast<Element>(a + b);
      }
  }
  return Element{};
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

}  // namespace collbench::collectives
