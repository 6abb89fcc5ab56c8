#include "launch/hosts/greeting.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace collbench::launch::siphash_test {
namespace {

/// Of the authors' reference implementation (https://github.com/veorq/SipHash, vectors.h, vectors_sip128):
/// the key is the bytes 0 to 15, the message the bytes from 0 on; by the number of those.
TEST(SipHash, HasTheAuthorsVectors) {
  const std::vector<std::pair<int, std::string>> vectors{
      {0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
      {2, "8177228da4a45dc7fca38bdef60affe4"},  {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
      {8, "3b62a9ba6258f5610f83e264f31497b4"},  {9, "264499060ad9baabc47f8b02bb6d71ed"},
      {15, "5493e99933b0a8117e08ec0f97cfc3d9"}, {16, "6ee2a4ca67b054bbfd3315bf85230577"},
      {31, "2939b0183223fafc1723de4f52c43d35"}, {63, "5150d1772f50834a503e069a973fbd7c"}};
  std::string message;
  for (int i = 0; i < 64; ++i) message += static_cast<char>(i);
  for (const auto& [length, expected] : vectors) {
    std::string bytes;
    for (const std::uint64_t word :
         siphash_128({0x0706050403020100, 0x0f0e0d0c0b0a0908},
                     std::string_view(message).substr(0, static_cast<std::size_t>(length)))) {
      for (int i = 0; i < 8; ++i) bytes += fmt::format("{:02x}", word >> 8 * i & 0xff);
    }
    EXPECT_EQ(bytes, expected) << length;
  }
}

}  // namespace
}  // namespace collbench::launch::siphash_test
