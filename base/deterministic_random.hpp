#pragma once
#include <cstdint>

// For the host's compiler and for nvcc (as constexpr functions on the device).

namespace collbench {

/// 2^64/φ, odd: a multiple of it is another for each factor below 2^64.
inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;

/// The finalizer of MurmurHash3 (Appleby, public domain): every input bit changes every output bit.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdU;
  x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return x ^ (x >> 33U);
}

/// A number that looks random, the same for the same `counter` everywhere.
[[nodiscard]] constexpr std::uint64_t scrambled(std::uint64_t counter) {
  return mixed((counter + 1) * kGolden);
}

}  // namespace collbench
