// What the messages of real calls say of these rules is in algorithm_control_mpi_test.cpp, for up to 5 ranks.
#include "collectives/mpi/open_mpi/algorithm_rules.hpp"

#include <gtest/gtest.h>

namespace collbench::collectives::algorithm_rules_test {
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

/// FNV-1a over the choices on both sides of every limit in ranks and of every power of two in bytes.
std::uint64_t digest(OperationId operation) {
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&](char letter) { hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U; };
  for (const int ranks : {2,   3,   4,   7,   8,   15,   16,   31,   32,   63,   64,   127,
                          128, 255, 256, 511, 512, 1023, 1024, 2047, 2048, 4095, 4096, 100000}) {
    for (int power = 0; power <= 24; ++power) {
      for (const std::uint64_t less : {0U, 1U}) {
        std::uint64_t bytes = (std::uint64_t{1} << power) - less;
        if (operation == OperationId::reduce_scatter) bytes /= static_cast<std::uint64_t>(ranks);
        for (const char letter : chosen(operation, ranks, bytes)) add(letter);
        add('\n');
      }
    }
  }
  return hash;
}

/// The same digests of the functions of Open MPI 4.1.4 themselves (coll_tuned_decision_fixed.c,
/// ompi_coll_tuned_…_intra_dec_fixed), compiled by themselves: a slip in any rule changes them.
TEST(OpenMpiRules, AreOpenMpisOwn) {
  EXPECT_EQ(digest(OperationId::all_reduce), 0x9b818da6cddc0019U);
  EXPECT_EQ(digest(OperationId::all_gather), 0x8a325b7d38189687U);
  EXPECT_EQ(digest(OperationId::reduce_scatter), 0x4aafa19b769383d3U);
  EXPECT_EQ(digest(OperationId::all_to_all), 0xbb0c4fc3839f92afU);
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

std::string smpi_algorithm(const std::string& configured, OperationId operation, std::uint64_t count,
                           int ranks) {
  return smpi_runs(configured, {operation, count, 4, ranks, true, false});
}

TEST(SmpiAlgorithms, NoSettingAndSelectorsDoNotTell) {
  using enum OperationId;
  EXPECT_EQ(smpi_algorithm("", all_reduce, 16, 4), "auto");
  EXPECT_EQ(smpi_algorithm("ompi", all_gather, 16, 4), "auto");
  EXPECT_EQ(smpi_algorithm("default", all_to_all, 16, 4), "auto");
}

TEST(SmpiAlgorithms, RingRunsOnWhatDividesByTheRanks) {
  using enum OperationId;
  EXPECT_EQ(smpi_algorithm("lr", all_reduce, 16, 4), "ring");
  EXPECT_EQ(smpi_algorithm("lr", all_reduce, 17, 4), "ring+redbcast");
  EXPECT_EQ(smpi_algorithm("lr", all_reduce, 3, 4), "redbcast");
  EXPECT_EQ(smpi_algorithm("lr", all_reduce, 3, 1), "self");
}

TEST(SmpiAlgorithms, SegmentsAreOfOneMebibyte) {
  using enum OperationId;
  EXPECT_EQ(smpi_algorithm("ompi_ring_segmented", all_reduce, 1 << 20, 4), "segmented_ring");
  EXPECT_EQ(smpi_algorithm("ompi_ring_segmented", all_reduce, (1 << 20) - 4, 4), "ring");
  EXPECT_EQ(smpi_algorithm("ompi_ring_segmented", all_reduce, 3, 4), "redbcast");
}

TEST(SmpiAlgorithms, SameMessagesSameNameAsOpenMpi) {
  using enum OperationId;
  EXPECT_EQ(smpi_algorithm("rdb", all_reduce, 16, 6), "recursive_doubling");
  EXPECT_EQ(smpi_algorithm("rab_rdb", all_reduce, 16, 8), "rabenseifner");
  EXPECT_EQ(smpi_algorithm("rab_rdb", all_reduce, 16, 6), "rab_rdb") << "it hands over otherwise";
  EXPECT_EQ(smpi_algorithm("NTSLR", all_gather, 16, 6), "ring");
  EXPECT_EQ(smpi_algorithm("ring", all_gather, 16, 6), "direct");
  EXPECT_EQ(smpi_algorithm("rdb", all_gather, 16, 8), "recursive_doubling");
  EXPECT_EQ(smpi_algorithm("rdb", all_gather, 16, 6), "rdb") << "Open MPI's runs Bruck then";
  EXPECT_EQ(smpi_algorithm("ompi_neighborexchange", all_gather, 16, 6), "neighbor");
  EXPECT_EQ(smpi_algorithm("ompi_neighborexchange", all_gather, 16, 5), "ring");
  EXPECT_EQ(smpi_algorithm("ompi_ring", reduce_scatter, 16, 5), "ring");
  EXPECT_EQ(smpi_algorithm("ompi_basic_recursivehalving", reduce_scatter, 16, 5), "recursive_halving");
  EXPECT_EQ(smpi_algorithm("ompi_butterfly", reduce_scatter, 16, 5), "butterfly");
  EXPECT_EQ(smpi_algorithm("basic_linear", all_to_all, 16, 5), "linear");
  EXPECT_EQ(smpi_algorithm("ring", all_to_all, 16, 5), "pairwise");
  EXPECT_EQ(smpi_algorithm("pair", all_to_all, 16, 4), "pair") << "by rank xor step";
  EXPECT_EQ(smpi_algorithm("bruck", all_to_all, 16, 5), "modified_bruck");
}

TEST(SmpiAlgorithms, OfRootedOperationsAreNamedAsOpenMpiNamesThem) {
  using enum OperationId;
  EXPECT_EQ(smpi_algorithm("binomial_tree", broadcast, 16, 5), "binomial");
  EXPECT_EQ(smpi_algorithm("binomial", reduce, 16, 5), "binomial");
  EXPECT_EQ(smpi_algorithm("ompi_binomial", gather, 16, 5), "binomial");
  EXPECT_EQ(smpi_algorithm("ompi_basic_linear", scatter, 16, 5), "basic_linear");
  EXPECT_EQ(smpi_algorithm("ompi_basic_linear", reduce, 16, 5), "ompi_basic_linear")
      << "no formula has been held to it";
}

TEST(SmpiAlgorithms, OthersKeepTheirNames) {
  using enum OperationId;
  EXPECT_EQ(smpi_algorithm("rab2", all_reduce, 16, 4), "rab2");
  EXPECT_EQ(smpi_algorithm("NTSLR_NB", all_gather, 16, 4), "NTSLR_NB");
  EXPECT_EQ(smpi_algorithm("mpich_rdb", reduce_scatter, 16, 4), "mpich_rdb");
}

}  // namespace

}  // namespace collbench::collectives::algorithm_rules_test
