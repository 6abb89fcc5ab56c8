#include "topology/diff/parts.hpp"

#include <gtest/gtest.h>

namespace collbench::topology::parts_test {
namespace {

Twins seat(int index) {
  const Device device{DeviceKind::gpu, index};
  return {device, device};
}

TEST(PairCover, OneDeviceExplainsAllItsPairs) {
  const auto explained =
      explain_pairs<int>({{seat(0), seat(3), 1}, {seat(3), seat(1), 2}, {seat(2), seat(3), 3}});
  ASSERT_EQ(explained.size(), 1U);
  EXPECT_EQ(explained[0].device, seat(3));
  EXPECT_EQ(explained[0].pairs.size(), 3U);
}

TEST(PairCover, PairsApartAreExplainedApart) {
  const auto explained = explain_pairs<int>({{seat(0), seat(1), 1}, {seat(2), seat(3), 2}});
  ASSERT_EQ(explained.size(), 2U);
  EXPECT_EQ(explained[0].device, seat(0));  // of two that explain as much, the one that it goes out from
}

TEST(PairCover, NothingChangedIsExplainedByNothing) { EXPECT_TRUE(explain_pairs<int>({}).empty()); }

}  // namespace
}  // namespace collbench::topology::parts_test
