#pragma once
#include <cstdint>

namespace collbench {

/// A number that looks random, the same for the same `counter` everywhere: SplitMix64 (Steele, Lea and Flood,
/// "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014), its output function of the counter.
[[nodiscard]] constexpr std::uint64_t scrambled(std::uint64_t counter) {
  std::uint64_t bits = (counter + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

}  // namespace collbench
