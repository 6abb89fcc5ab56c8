#include "tools/probe/processor/processor_probe.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace collbench::collectives::triad_loop_test {
namespace {

TEST(TriadLoop, BothKindsOfStoresWriteEachElement) {
  constexpr std::size_t kCount = 1026;
  std::vector<double> b(kCount);
  std::vector<double> c(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    b[i] = static_cast<double>(i);
    c[i] = static_cast<double>(i * i);
  }
  for (const bool streaming : {false, true}) {
    std::vector<double> a(kCount, -1);
    (streaming ? triad_streaming : triad)(a, b, c, 3);
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(a[i], b[i] + 3 * c[i]) << i << streaming;
  }
}

}  // namespace
}  // namespace collbench::collectives::triad_loop_test
