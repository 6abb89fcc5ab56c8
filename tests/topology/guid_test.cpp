#include "topology/guid.hpp"

#include <gtest/gtest.h>

namespace collbench::guid_test {
namespace {

TEST(Guid, HasOneSpelling) {
  EXPECT_EQ("0xb83fd203002aa358", canonical_guid("b83f:d203:002a:a358"));
  EXPECT_EQ("0xb83fd203002aa358", canonical_guid("0xB83FD203002AA358"));
  EXPECT_EQ("0x0000000000000001", canonical_guid("1"));
}

TEST(Guid, ZeroAndNonsenseAreNone) {
  for (const char* text : {"", "0x0", "0000:0000:0000:0000", "xyz", "b83f:d203:002a:a358:0000", "0x"})
    EXPECT_FALSE(canonical_guid(text)) << text;
}

TEST(Guid, NcclsBytesStandTheOtherWayRound) {
  EXPECT_EQ("0x58a32a0003d23fb8", swap_guid("b83f:d203:002a:a358"));
  EXPECT_EQ("0xb83fd203002aa358", swap_guid(*swap_guid("0xb83fd203002aa358")));
  EXPECT_FALSE(swap_guid("0"));
}

}  // namespace
}  // namespace collbench::guid_test
