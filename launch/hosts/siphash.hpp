#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace collbench::launch {

struct SipKey {
  std::uint64_t first = 0;  ///< the lower eight of its bytes, little-endian
  std::uint64_t second = 0;
};

/// SipHash-2-4 with 128 bits of result, by J.-P. Aumasson and D. J. Bernstein
/// (https://www.aumasson.jp/siphash/siphash.pdf), the keyed hash that is made to authenticate short messages:
/// who does not know the key can neither compute nor guess it. Little-endian as the key.
[[nodiscard]] std::array<std::uint64_t, 2> siphash_128(SipKey key, std::string_view message);

}  // namespace collbench::launch
