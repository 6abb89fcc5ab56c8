#include "collectives/mpi/open_mpi/smpi_algorithms.hpp"

#include <gtest/gtest.h>

namespace collbench::collectives::smpi_algorithms_test {
namespace {

using enum OperationId;

std::string runs(const std::string& configured, OperationId operation, std::uint64_t count, int ranks) {
  return smpi_runs(configured, {operation, count, 4, ranks, true, false});
}

TEST(SmpiAlgorithms, NoSettingAndSelectorsDoNotTell) {
  EXPECT_EQ(runs("", all_reduce, 16, 4), "auto");
  EXPECT_EQ(runs("ompi", all_gather, 16, 4), "auto");
  EXPECT_EQ(runs("default", all_to_all, 16, 4), "auto");
}

TEST(SmpiAlgorithms, RingRunsOnWhatDividesByTheRanks) {
  EXPECT_EQ(runs("lr", all_reduce, 16, 4), "ring");
  EXPECT_EQ(runs("lr", all_reduce, 17, 4), "ring+redbcast");
  EXPECT_EQ(runs("lr", all_reduce, 3, 4), "redbcast");
  EXPECT_EQ(runs("lr", all_reduce, 3, 1), "self");
}

TEST(SmpiAlgorithms, SegmentsAreOfOneMebibyte) {
  EXPECT_EQ(runs("ompi_ring_segmented", all_reduce, 1 << 20, 4), "segmented_ring");
  EXPECT_EQ(runs("ompi_ring_segmented", all_reduce, (1 << 20) - 4, 4), "ring");
  EXPECT_EQ(runs("ompi_ring_segmented", all_reduce, 3, 4), "redbcast");
}

TEST(SmpiAlgorithms, SameMessagesSameNameAsOpenMpi) {
  EXPECT_EQ(runs("rdb", all_reduce, 16, 6), "recursive_doubling");
  EXPECT_EQ(runs("rab_rdb", all_reduce, 16, 8), "rabenseifner");
  EXPECT_EQ(runs("rab_rdb", all_reduce, 16, 6), "rab_rdb") << "it hands over otherwise";
  EXPECT_EQ(runs("NTSLR", all_gather, 16, 6), "ring");
  EXPECT_EQ(runs("ring", all_gather, 16, 6), "direct");
  EXPECT_EQ(runs("rdb", all_gather, 16, 8), "recursive_doubling");
  EXPECT_EQ(runs("rdb", all_gather, 16, 6), "rdb") << "Open MPI's runs Bruck then";
  EXPECT_EQ(runs("ompi_neighborexchange", all_gather, 16, 6), "neighbor");
  EXPECT_EQ(runs("ompi_neighborexchange", all_gather, 16, 5), "ring");
  EXPECT_EQ(runs("ompi_ring", reduce_scatter, 16, 5), "ring");
  EXPECT_EQ(runs("ompi_basic_recursivehalving", reduce_scatter, 16, 5), "recursive_halving");
  EXPECT_EQ(runs("ompi_butterfly", reduce_scatter, 16, 5), "butterfly");
  EXPECT_EQ(runs("basic_linear", all_to_all, 16, 5), "linear");
  EXPECT_EQ(runs("ring", all_to_all, 16, 5), "pairwise");
  EXPECT_EQ(runs("pair", all_to_all, 16, 4), "pair") << "by rank xor step";
  EXPECT_EQ(runs("bruck", all_to_all, 16, 5), "modified_bruck");
}

TEST(SmpiAlgorithms, OfRootedOperationsAreNamedAsOpenMpiNamesThem) {
  EXPECT_EQ(runs("binomial_tree", broadcast, 16, 5), "binomial");
  EXPECT_EQ(runs("binomial", reduce, 16, 5), "binomial");
  EXPECT_EQ(runs("ompi_binomial", gather, 16, 5), "binomial");
  EXPECT_EQ(runs("ompi_basic_linear", scatter, 16, 5), "basic_linear");
  EXPECT_EQ(runs("ompi_basic_linear", reduce, 16, 5), "ompi_basic_linear")
      << "no formula has been held to it";
}

TEST(SmpiAlgorithms, OthersKeepTheirNames) {
  EXPECT_EQ(runs("rab2", all_reduce, 16, 4), "rab2");
  EXPECT_EQ(runs("NTSLR_NB", all_gather, 16, 4), "NTSLR_NB");
  EXPECT_EQ(runs("mpich_rdb", reduce_scatter, 16, 4), "mpich_rdb");
}

}  // namespace
}  // namespace collbench::collectives::smpi_algorithms_test
