#include "collectives/mpi/open_mpi_fallbacks.hpp"

#include <gtest/gtest.h>

namespace collbench::open_mpi_fallbacks_test {
namespace {

using enum OperationId;

std::string runs(const std::string& forced, OperationId operation, std::uint64_t count, int ranks,
                 std::uint64_t segment_bytes = 0) {
  return open_mpi_runs(forced, {operation, count, 4, ranks, true, false}, segment_bytes);
}

TEST(OpenMpiFallbacks, RingNeedsAnElementForEachRank) {
  EXPECT_EQ(runs("ring", all_reduce, 3, 4), "recursive_doubling");
  EXPECT_EQ(runs("ring", all_reduce, 4, 4), "ring");
  EXPECT_EQ(runs("ring", all_gather, 1, 4), "ring");
  EXPECT_EQ(runs("ring", reduce_scatter, 1, 4), "ring");
}

TEST(OpenMpiFallbacks, SegmentedRingNeedsASegmentForEachRank) {
  EXPECT_EQ(runs("segmented_ring", all_reduce, 1'000'000, 4), "ring") << "no segment size";
  EXPECT_EQ(runs("segmented_ring", all_reduce, 3, 4), "recursive_doubling");
  EXPECT_EQ(runs("segmented_ring", all_reduce, 40, 4, 40), "segmented_ring");
  EXPECT_EQ(runs("segmented_ring", all_reduce, 39, 4, 40), "ring");
  EXPECT_EQ(runs("segmented_ring", all_reduce, 40, 4, 43), "ring") << "43 B are 11 elements of 4 B, rounded";
  EXPECT_EQ(runs("segmented_ring", all_reduce, 40, 4, 42), "segmented_ring") << "42 B are 10";
  EXPECT_EQ(runs("segmented_ring", all_reduce, 40, 4, 3), "ring") << "less than an element";
}

TEST(OpenMpiFallbacks, RabenseifnerNeedsAnElementForEachRankOfThePowerOfTwoAndACommutativeReduction) {
  EXPECT_EQ(runs("rabenseifner", all_reduce, 3, 4), "basic_linear");
  EXPECT_EQ(runs("rabenseifner", all_reduce, 4, 4), "rabenseifner");
  EXPECT_EQ(runs("rabenseifner", all_reduce, 4, 7), "rabenseifner");
  EXPECT_EQ(open_mpi_runs("rabenseifner", {all_reduce, 1000, 4, 4, false, false}, 0), "basic_linear");
}

TEST(OpenMpiFallbacks, AllGatherWantsPowersOfTwoOrEvenRanks) {
  EXPECT_EQ(runs("recursive_doubling", all_gather, 9, 8), "recursive_doubling");
  EXPECT_EQ(runs("recursive_doubling", all_gather, 9, 6), "bruck");
  EXPECT_EQ(runs("neighbor", all_gather, 9, 6), "neighbor");
  EXPECT_EQ(runs("neighbor", all_gather, 9, 7), "ring");
  EXPECT_EQ(runs("recursive_doubling", all_reduce, 9, 6), "recursive_doubling") << "AllReduce's handles them";
}

TEST(OpenMpiFallbacks, AllToAllInPlaceIsAlwaysTheSame) {
  for (const char* const forced : {"linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"}) {
    EXPECT_EQ(open_mpi_runs(forced, {all_to_all, 9, 4, 2, true, true}, 0), "basic_inplace");
    EXPECT_EQ(open_mpi_runs(forced, {all_to_all, 9, 4, 2, true, false}, 0), forced);
  }
}

TEST(OpenMpiFallbacks, OneRankAndNoElementsRunNothingOfIt) {
  EXPECT_EQ(runs("ring", all_reduce, 9, 1), "self");
  EXPECT_EQ(runs("ring", all_reduce, 0, 4), "none");
}

TEST(OpenMpiFallbacks, TwoProcFailsOnMoreRanks) {
  EXPECT_FALSE(open_mpi_refuses(all_gather, "two_proc", 2));
  EXPECT_FALSE(open_mpi_refuses(all_gather, "two_proc", 1)) << "coll/self serves one rank";
  EXPECT_EQ(open_mpi_refuses(all_gather, "two_proc", 3), "two_proc needs exactly 2 ranks");
  EXPECT_TRUE(open_mpi_refuses(all_to_all, "two_proc", 4));
  EXPECT_FALSE(open_mpi_refuses(all_to_all, "pairwise", 4));
}

}  // namespace
}  // namespace collbench::open_mpi_fallbacks_test
