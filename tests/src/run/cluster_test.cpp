// Ranks as threads.
#include "src/run/cluster.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "base/error.hpp"
#include "tests/launch/rank_threads.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::program::cluster_test {
namespace {

/// A rank that counts the bytes which it sends.
class Counting : public launch::Ranks {
 public:
  Counting(launch::Ranks& ranks, std::atomic<std::size_t>& bytes) : ranks_(ranks), bytes_(bytes) {}
  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  void barrier() override { ranks_.barrier(); }
  void broadcast(std::span<std::byte> bytes, int root) override { ranks_.broadcast(bytes, root); }
  void reduce(std::span<double> values, launch::RankAggregate how) override { ranks_.reduce(values, how); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
    bytes_ += text.size();
    return ranks_.all_gather(text);
  }
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
    bytes_ += text.size();
    return ranks_.gather(text);
  }

 private:
  launch::Ranks& ranks_;
  std::atomic<std::size_t>& bytes_;
};

Identities two_ranks_on_each_of(int nodes) {
  Identities all;
  for (int rank = 0; rank < 2 * nodes; ++rank) {
    all.push_back(
        {.rank = rank, .host = "n" + std::to_string(rank / 2), .node = rank / 2, .local_rank = rank % 2});
  }
  return all;
}

/// hgx-h100 with identities of its own on each node; on an odd one a NIC is down.
topology::Host machine(int node, bool odd) {
  topology::Host host = topology::reference_host(*topology::find_reference_machine("hgx-h100"));
  host.name.value = "n" + std::to_string(node);
  host.gpus[0].uuid.value = "GPU-" + std::to_string(node);
  if (odd) host.nics[0].ports.at(0).state.value = "DOWN";
  return host;
}

struct Gathered {
  topology::ClusterTopology cluster;
  int gathers = 0;
  std::size_t bytes = 0;
};

Gathered gather(int nodes, int odd) {
  Gathered result;
  std::atomic<int> gathers = 0;
  std::atomic<std::size_t> bytes = 0;
  const Identities machines = two_ranks_on_each_of(nodes);
  launch::run_rank_threads(2 * nodes, [&](launch::Ranks& ranks) {
    Counting counting(ranks, bytes);
    const int node = ranks.rank() / 2;
    topology::ClusterTopology cluster = gather_cluster(counting, machines, [&] {
      ++gathers;
      return machine(node, node == odd);
    });
    if (ranks.is_root()) {
      result.cluster = std::move(cluster);
    } else {
      EXPECT_TRUE(cluster.nodes.empty());
    }
  });
  result.gathers = gathers;
  result.bytes = bytes;
  return result;
}

TEST(GatherCluster, EveryNodeGathersOnceAndIsThere) {
  const Gathered result = gather(3, 1);
  EXPECT_EQ(result.gathers, 3);
  ASSERT_EQ(result.cluster.nodes.size(), 3U);
  EXPECT_EQ(result.cluster.distinct_hosts,
            (std::vector<topology::Host>{machine(0, false), machine(1, true)}));
  EXPECT_EQ(result.cluster.nodes[1].shape, 1);
  EXPECT_EQ(result.cluster.nodes[2].shape, 0);
  EXPECT_EQ(result.cluster.nodes[2].host, "n2");
  EXPECT_EQ(result.cluster.nodes[2].identity.at("host").at("name"), "n2");
}

TEST(GatherCluster, ASecondNodeOfAKindSendsItsIdentityOnly) {
  const std::size_t one = gather(1, -1).bytes;
  const std::size_t two = gather(2, -1).bytes;
  const std::size_t three = gather(3, -1).bytes;
  EXPECT_LT(two - one, one / 4);
  EXPECT_EQ(three - two, two - one);
  EXPECT_GT(gather(3, 2).bytes, three + one / 2) << "another machine is sent as a whole";
}

TEST(GatherCluster, AFailureOfOneNodeIsTheSameErrorEverywhere) {
  std::atomic<int> thrown = 0;
  launch::run_rank_threads(4, [&](launch::Ranks& ranks) {
    try {
      static_cast<void>(gather_cluster(ranks, two_ranks_on_each_of(2), [&]() -> topology::Host {
        if (ranks.rank() == 2) throw Error(ExitStatus::not_here, "hwloc", "it failed", "");
        return machine(0, false);
      }));
    } catch (const Error& error) {
      EXPECT_THAT(describe(error), testing::HasSubstr("n1"));
      ++thrown;
    }
  });
  EXPECT_EQ(thrown, 4);
}

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

TEST(GatherPlacement, DistinguishesAnUnsetVariableFromAnEmptyOne) {
  const auto ranks = placed(devices(), {nullptr, "", "3", "3"});
  EXPECT_EQ(ranks.at(0).gpu, "GPU0");
  EXPECT_TRUE(ranks[0].guess);
  EXPECT_EQ(ranks[1].gpu, "");
  EXPECT_EQ(ranks[1].note, "no GPU of its host is visible to this rank");
  EXPECT_EQ(ranks[2].note, "2 ranks share this GPU");
}

TEST(FarRanksNote, NamesRanksWhoseCoresAreAllAtOtherGpus) {
  topology::ClusterTopology cluster = devices();
  std::vector<topology::Gpu>& gpus = cluster.distinct_hosts[0].gpus;
  for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i].cpu_affinity.value = i < 4 ? "0-3" : "4-7";
  const Identities machines = two_ranks_on_each_of(2);
  const auto ranks = placed(cluster, {"GPU-a1", "GPU-a4", "GPU-b7", "GPU-b0"});
  const auto note = [&](const std::vector<std::vector<int>>& cores) {
    return far_ranks_note(cluster, machines, ranks, cores);
  };
  EXPECT_EQ(note({{0, 1}, {4}, {3, 4}, {0, 1, 2, 3, 4}}), "");
  EXPECT_EQ(note({{}, {}, {}, {}}), "") << "nothing is known of their cores";
  EXPECT_THAT(
      note({{0}, {1, 2}, {5}, {0}}),
      testing::StartsWith("rank 1 is bound far from its GPU: rank 1 on a may run on CPUs 1-2, and GPU4 is "
                          "at 4-7; "));
  EXPECT_THAT(note({{7}, {1}, {2}, {0}}), testing::StartsWith("ranks 0-2 are bound far from their GPUs: "));
  gpus[4].cpu_affinity.value.reset();
  for (topology::NumaNode& node : cluster.distinct_hosts[0].numa_nodes) node.cpus.value.reset();
  EXPECT_EQ(note({{0}, {1}, {5}, {0}}), "") << "where a GPU is";
}

TEST(OwnDevice, IsTheGpuAndTheNicOfThisRank) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    std::vector<PlacedRank> placement(ranks.is_root() ? 3 : 0);
    for (int rank = 0; rank < static_cast<int>(placement.size()); ++rank)
      placement[static_cast<std::size_t>(rank)].rank = rank;
    EXPECT_EQ(own_device(ranks, placement), "");
    if (ranks.is_root()) {
      placement[1].gpu = "GPU3";
      placement[2].gpu = "GPU4";
      placement[2].nic = "mlx5_4";
    }
    EXPECT_EQ(
        own_device(ranks, placement),
        std::vector<std::string>({"", "GPU3", "GPU4, mlx5_4"}).at(static_cast<std::size_t>(ranks.rank())));
    EXPECT_EQ(own_device(ranks, {}), "");
  });
}

TEST(GatherPlacement, IsEmptyWithoutGpus) {
  const topology::ClusterTopology cluster{{topology::Host{}}, {{"a", 0, {}}, {"b", 0, {}}}};
  EXPECT_THAT(placed(cluster, {"0", "0", "0", "0"}), IsEmpty());
}

}  // namespace
}  // namespace collbench::program::cluster_test
