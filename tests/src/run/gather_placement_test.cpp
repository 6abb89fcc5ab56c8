// Ranks as threads.
#include "src/run/gather_placement.hpp"

#include <gmock/gmock.h>

#include "tests/launch/rank_threads.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::program::gather_placement_test {
namespace {

using testing::IsEmpty;

topology::Host machine(const std::string& name) {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  for (std::size_t i = 0; i < host.gpus.size(); ++i)
    host.gpus[i].uuid.value = "GPU-" + name + std::to_string(i);
  return host;
}

/// Two nodes of one shape.
topology::ClusterTopology devices() {
  return {{machine("a")},
          {{"a", 0, topology::host_facts(machine("a")).identity},
           {"b", 0, topology::host_facts(machine("b")).identity}}};
}

/// Two ranks on each of two nodes, with the CUDA_VISIBLE_DEVICES of each.
std::vector<PlacedRank> placed(const topology::ClusterTopology& cluster,
                               const std::vector<const char*>& variables) {
  Identities machines;
  for (int rank = 0; rank < 4; ++rank)
    machines.push_back({.rank = rank, .host = "", .node = rank / 2, .local_rank = rank % 2});
  std::vector<PlacedRank> result;
  launch::run_rank_threads(4, [&](launch::Ranks& ranks) {
    std::vector<PlacedRank> mine =
        gather_placement(ranks, machines, ranks.is_root() ? cluster : topology::ClusterTopology{},
                         variables.at(static_cast<std::size_t>(ranks.rank())));
    if (ranks.is_root()) {
      result = std::move(mine);
    } else {
      EXPECT_THAT(mine, IsEmpty());
    }
  });
  return result;
}

TEST(GatherPlacement, FindsTheUuidsOfEveryNode) {
  const auto ranks = placed(devices(), {"GPU-a1", "GPU-a0", "GPU-b7", "GPU-a0"});
  ASSERT_EQ(ranks.size(), 4U);
  EXPECT_EQ(ranks[0].gpu, "GPU1");
  EXPECT_EQ(ranks[1].gpu, "GPU0");
  EXPECT_EQ(ranks[2].gpu, "GPU7");
  EXPECT_EQ(ranks[2].rank, 2);
  EXPECT_FALSE(ranks[2].guess);
  EXPECT_EQ(ranks[3].gpu, "") << "that GPU is the other node's";
  EXPECT_EQ(ranks[3].note, "GPU-a0 is not among the GPUs of its host");
}

TEST(GatherPlacement, DistinguishesNoVariableFromAnEmptyOne) {
  const auto ranks = placed(devices(), {nullptr, "", "3", "3"});
  EXPECT_EQ(ranks.at(0).gpu, "GPU0");
  EXPECT_TRUE(ranks[0].guess);
  EXPECT_EQ(ranks[1].gpu, "");
  EXPECT_EQ(ranks[1].note, "no GPU of its host is visible to it");
  EXPECT_EQ(ranks[2].note, "2 ranks share this GPU");
}

TEST(GatherPlacement, SaysNothingWithoutGpus) {
  const topology::ClusterTopology cluster{{topology::Host{}}, {{"a", 0, {}}, {"b", 0, {}}}};
  EXPECT_THAT(placed(cluster, {"0", "0", "0", "0"}), IsEmpty());
}

}  // namespace
}  // namespace collbench::program::gather_placement_test
