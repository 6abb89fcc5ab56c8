// Ranks as threads.
#include "src/run/gather_cluster.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "base/error.hpp"
#include "tests/launch/rank_threads.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::program::gather_cluster_test {
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
  int looks = 0;
  std::size_t bytes = 0;
};

Gathered gather(int nodes, int odd) {
  Gathered result;
  std::atomic<int> looks = 0;
  std::atomic<std::size_t> bytes = 0;
  const Identities machines = two_ranks_on_each_of(nodes);
  launch::run_rank_threads(2 * nodes, [&](launch::Ranks& ranks) {
    Counting counting(ranks, bytes);
    const int node = ranks.rank() / 2;
    topology::ClusterTopology cluster = gather_cluster(counting, machines, [&] {
      ++looks;
      return machine(node, node == odd);
    });
    if (ranks.is_root()) {
      result.cluster = std::move(cluster);
    } else {
      EXPECT_TRUE(cluster.nodes.empty());
    }
  });
  result.looks = looks;
  result.bytes = bytes;
  return result;
}

TEST(GatherCluster, EveryNodeLooksOnceAndIsThere) {
  const Gathered result = gather(3, 1);
  EXPECT_EQ(result.looks, 3);
  ASSERT_EQ(result.cluster.nodes.size(), 3U);
  EXPECT_EQ(result.cluster.shapes, (std::vector<topology::Host>{machine(0, false), machine(1, true)}));
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

}  // namespace
}  // namespace collbench::program::gather_cluster_test
