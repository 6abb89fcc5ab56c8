#include "tools/nccl_plan/report/words.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"

namespace collbench::analysis {
namespace {

TEST(NcclPlanWords, ARateOfAChannelHasNoDecimalsThatSayNothing) {
  EXPECT_EQ(channel_rate(48 * kGigabyte), "48");
  EXPECT_EQ(channel_rate(20.6 * kGigabyte), "20.6");
}

TEST(NcclPlanWords, APatternIsSaidOfATreeOnly) {
  NcclSearchGraph graph;
  graph.algorithm = NcclAlgorithm::ring;
  graph.pattern = 4;
  graph.channels = 8;
  graph.intra_bytes_per_second = 48 * kGigabyte;
  graph.inter_bytes_per_second = 24 * kGigabyte;
  graph.intra_type = "NVL";
  graph.inter_type = "PIX";
  EXPECT_EQ(graph_words(graph), "8 × 48/24 GB/s NVL/PIX");
  graph.algorithm = NcclAlgorithm::tree;
  graph.cross_nic = 1;
  EXPECT_EQ(graph_words(graph), "8 × 48/24 GB/s NVL/PIX pattern 4 crossNic 1");
  EXPECT_EQ(graph_words({}), "none");
}

}  // namespace
}  // namespace collbench::analysis
