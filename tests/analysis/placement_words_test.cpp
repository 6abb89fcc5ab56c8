#include "analysis/placement_words.hpp"

#include <gtest/gtest.h>

namespace collbench::placement_words_test {
namespace {

PlacedRank placed(int rank) {
  const std::string number = std::to_string(rank);
  return {.rank = rank,
          .gpu = "GPU" + number,
          .gpu_address = "",
          .nic = "mlx5_" + number,
          .numa_node = 0,
          .guess = false,
          .note = ""};
}

TEST(PlacementWords, NamesGpuNicAndNumaNode) {
  PlacedRank second = placed(1);
  second.guess = true;
  EXPECT_EQ(placement_words({placed(0), second}),
            "GPUs of the ranks: rank 0: GPU0, mlx5_0, NUMA 0; rank 1: GPU1 (guess), mlx5_1, NUMA 0");
}

TEST(PlacementWords, PutsWhatIsOddFirstAndStaysShort) {
  std::vector<PlacedRank> all;
  for (int rank = 0; rank < 16; ++rank) all.push_back(placed(rank));
  all[9] = {.rank = 9,
            .gpu = "",
            .gpu_address = "",
            .nic = "",
            .numa_node = {},
            .guess = false,
            .note = "no GPU of its host is visible to it"};
  EXPECT_EQ(placement_words(all),
            "GPUs of the ranks: rank 9: no GPU (no GPU of its host is visible to it); "
            "rank 0: GPU0, mlx5_0, NUMA 0; rank 1: GPU1, mlx5_1, NUMA 0; rank 2: GPU2, mlx5_2, NUMA 0; "
            "12 more in the record");
}

TEST(PlacementWords, SaysNothingOfRanksOfWhichNothingIsKnown) {
  EXPECT_EQ(placement_words({}), "");
  PlacedRank none = placed(0);
  none.gpu = "";
  EXPECT_EQ(placement_words({none}), "");
}

}  // namespace
}  // namespace collbench::placement_words_test
