// What the messages of real calls say of these rules is in algorithm_control_mpi_test.cpp, for up to 5 ranks.
#include "collectives/mpi/open_mpi_rules.hpp"

#include <gtest/gtest.h>

namespace collbench {
namespace {

std::string chosen(OperationId operation, int ranks, std::uint64_t bytes) {
  return open_mpi_chooses({.operation = operation, .count = bytes, .element_bytes = 1, .ranks = ranks})
      .value_or("nothing");
}

TEST(OpenMpiRules, FirstBandAndLimitThatFits) {
  using enum OperationId;
  EXPECT_EQ(chosen(all_reduce, 3, 262143), "segmented_ring");
  EXPECT_EQ(chosen(all_reduce, 3, 262144), "rabenseifner");
  EXPECT_EQ(chosen(all_reduce, 4, 15), "ring");
  EXPECT_EQ(chosen(all_reduce, 4, 16), "recursive_doubling");
  EXPECT_EQ(chosen(all_gather, 2, 1), "two_proc");
  EXPECT_EQ(chosen(all_gather, 31, 1 << 30), "recursive_doubling");
  EXPECT_EQ(chosen(all_gather, 32, 65535), "neighbor");
  EXPECT_EQ(chosen(all_gather, 32, 65536), "ring");
  EXPECT_EQ(chosen(all_to_all, 4096, 65536), "linear_sync");
}

TEST(OpenMpiRules, ReduceScatterGoesByAllBlocks) {
  EXPECT_EQ(chosen(OperationId::reduce_scatter, 4, 65535), "recursive_halving");
  EXPECT_EQ(chosen(OperationId::reduce_scatter, 4, 65536), "ring");
}

TEST(OpenMpiRules, WhatTheyDoNotSpeakOf) {
  EXPECT_EQ(chosen(OperationId::broadcast, 4, 8), "nothing");
  EXPECT_FALSE(open_mpi_chooses({.count = 1, .ranks = 4, .commutative = false}));
}

TEST(OpenMpiRules, AreThoseOfOneSeries) {
  EXPECT_TRUE(has_open_mpi_rules("Open MPI v4.1.4"));
  EXPECT_FALSE(has_open_mpi_rules("Open MPI v4.0.3"));
  EXPECT_FALSE(has_open_mpi_rules("Open MPI v5.0.9"));  // coll/han stands before coll/tuned there
  EXPECT_FALSE(has_open_mpi_rules("MPICH Version: 4.1.2"));
}

}  // namespace
}  // namespace collbench
