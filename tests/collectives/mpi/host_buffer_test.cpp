#include "collectives/mpi/host_buffer.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace collbench::collectives::host_buffer_test {
namespace {

constexpr std::uint64_t kBytes = 1 << 20;

TEST(HostBuffer, IsFreshEveryTime) {
  for (int i = 0; i < 3; ++i) {
    const HostBuffer buffer(kBytes);
    const std::span<std::byte> all = buffer.part(0, kBytes);
    EXPECT_TRUE(std::all_of(all.begin(), all.end(), [](std::byte each) { return each == std::byte{0}; }));
    std::fill(all.begin(), all.end(), std::byte{0xff});
  }
}

TEST(HostBuffer, LeavesTheAllocatorAsItWas) {
  const auto held = [] {
    const struct mallinfo2 now = ::mallinfo2();
    return std::pair(now.uordblks, now.hblkhd);
  };
  const auto before = held();
  const HostBuffer large(kBytes);
  const HostBuffer small(8);
  EXPECT_EQ(held(), before);
}

TEST(HostBuffer, BeginsWithAPage) {
  const HostBuffer buffer(8);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 4096, 0U);
  EXPECT_EQ(buffer.size(), 8U);
  EXPECT_EQ(buffer.part(4, 4).data(), buffer.data() + 4);
}

TEST(HostBuffer, MayBeEmptyAndMayMove) {
  const HostBuffer none;
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(HostBuffer(0).size(), 0U);
  HostBuffer from(kBytes);
  std::byte* const data = from.data();
  const HostBuffer to = std::move(from);
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(to.size(), kBytes);
}

TEST(HostBuffer, TooMuchIsAnException) {
  EXPECT_THROW(HostBuffer(std::numeric_limits<std::uint64_t>::max() / 2), std::bad_alloc);
}

}  // namespace
}  // namespace collbench::collectives::host_buffer_test
