#include "launch/hosts/greeting.hpp"

#include <bit>
#include <cstddef>

namespace collbench::launch {
namespace {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32) + v3;
      v2 += v1;
      v3 = std::rotl(v3, 21) ^ v0;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  std::uint64_t finish(std::uint64_t& marked, std::uint64_t mark) {
    marked ^= mark;
    rounds(4);
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

/// At most eight bytes.
std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) word = word << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return word;
}

}  // namespace

std::array<std::uint64_t, 2> siphash_128(SipKey key, std::string_view message) {
  SipState state{key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d ^ 0xee,
                 key.first ^ 0x6c7967656e657261, key.second ^ 0x7465646279746573};
  const std::uint64_t length = message.size();
  for (; message.size() >= 8; message.remove_prefix(8)) state.take(little_endian(message.substr(0, 8)));
  state.take(length << 56 | little_endian(message));
  const std::uint64_t first = state.finish(state.v2, 0xee);
  return {first, state.finish(state.v1, 0xdd)};
}

}  // namespace collbench::launch
