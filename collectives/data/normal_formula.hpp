#pragma once
#include <cstdint>

#include "base/deterministic_random.hpp"

// What the matrices of a GPU's probe hold, for the host's compiler and for nvcc (as a constexpr function on
// the device).

namespace collbench::collectives {

/// A number of a normal distribution of mean 0 and deviation 1, the same for an index and seed everywhere:
/// the sum of twelve numbers of 16 bits, each evenly from −½ to ½ (variance 12 · 1/12). Its kurtosis is 2.9,
/// a normal one's 3; none is beyond ±6. What matrices hold changes what a GPU draws, and so its clock: zeros
/// and small integers run faster than a job does.
[[nodiscard]] constexpr float normal_value(std::uint64_t index, std::uint64_t seed) {
  constexpr unsigned kBits = 16;
  constexpr float kScale = 1.0F / 65536.0F;
  std::uint32_t sum = 0;
  for (std::uint64_t word = 0; word < 3; ++word) {
    std::uint64_t bits = mixed((3 * index + word) ^ (seed * kGolden));
    for (int i = 0; i < 4; ++i, bits >>= kBits) sum += static_cast<std::uint32_t>(bits & 0xffffU);
  }
  // Of 2¹⁶ values from 0 on the mean is (2¹⁶ − 1) / 2.
  return (static_cast<float>(sum) - 6.0F * 65535.0F) * kScale;
}

}  // namespace collbench::collectives
