#include "topology/diff/parts.hpp"

#include <gtest/gtest.h>

namespace collbench::topology::parts_test {
namespace {

DevicePair slot(int index) {
  const Device device{DeviceKind::gpu, index};
  return {device, device};
}

TEST(PairCover, OneDeviceExplainsAllItsPairs) {
  const auto explained =
      explain_pairs<int>({{slot(0), slot(3), 1}, {slot(3), slot(1), 2}, {slot(2), slot(3), 3}});
  ASSERT_EQ(explained.size(), 1U);
  EXPECT_EQ(explained[0].device, slot(3));
  EXPECT_EQ(explained[0].pairs.size(), 3U);
}

TEST(PairCover, PairsApartAreExplainedApart) {
  const auto explained = explain_pairs<int>({{slot(0), slot(1), 1}, {slot(2), slot(3), 2}});
  ASSERT_EQ(explained.size(), 2U);
  EXPECT_EQ(explained[0].device, slot(0));  // of two that explain as much, the one that it goes out from
}

TEST(PairCover, NothingChangedIsExplainedByNothing) { EXPECT_TRUE(explain_pairs<int>({}).empty()); }

}  // namespace
}  // namespace collbench::topology::parts_test
