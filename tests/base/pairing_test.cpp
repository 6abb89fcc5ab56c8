#include "base/pairing.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace collbench::pairing_test {
namespace {

TEST(Pairing, EveryoneMeetsEveryoneOnceAndNobodyTwiceInARound) {
  for (int count = 0; count <= 33; ++count) {
    std::set<std::pair<int, int>> met;
    for (int round = 0; round < pairing_rounds(count); ++round) {
      int sitting_out = 0;
      for (int member = 0; member < count; ++member) {
        const auto partner = pairing_partner(member, round, count);
        if (!partner) {
          ++sitting_out;
          continue;
        }
        ASSERT_NE(*partner, member);
        ASSERT_EQ(pairing_partner(*partner, round, count), member) << count << ", round " << round;
        if (member < *partner) {
          ASSERT_TRUE(met.emplace(member, *partner).second);
        }
      }
      ASSERT_EQ(sitting_out, count % 2);
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(count > 0 ? count * (count - 1) / 2 : 0));
  }
}

}  // namespace
}  // namespace collbench::pairing_test
