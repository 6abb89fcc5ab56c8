#include "tools/plan/step/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

namespace collbench::analysis::placement_test {
namespace {

constexpr std::array<GroupKind, 8> kKinds{GroupKind::tensor,   GroupKind::context,     GroupKind::expert,
                                          GroupKind::stages,   GroupKind::data,        GroupKind::shard,
                                          GroupKind::replicas, GroupKind::same_experts};

/// What a group's ranks have in common, by the rank's coordinates.
std::vector<int> key_of(const TrainingJob& job, GroupKind kind, int rank) {
  const bool experts = kind == GroupKind::expert || kind == GroupKind::same_experts;
  const std::map<Dimension, int> sizes{{Dimension::tp, experts ? 1 : job.tp},
                                       {Dimension::cp, experts ? 1 : job.cp},
                                       {Dimension::ep, experts ? job.ep : 1},
                                       {Dimension::dp, experts ? job.tp * job.cp * job.dp / job.ep : job.dp},
                                       {Dimension::pp, job.pp}};
  std::map<Dimension, int> at;
  for (const Dimension each : job.order) {
    at[each] = rank % sizes.at(each);
    rank /= sizes.at(each);
  }
  const int group = job.shard_group > 0 ? job.shard_group : job.dp;
  const int tp = at[Dimension::tp];
  const int cp = at[Dimension::cp];
  const int ep = at[Dimension::ep];
  const int dp = at[Dimension::dp];
  const int pp = at[Dimension::pp];
  switch (kind) {
    case GroupKind::tensor:
      return {cp, dp, pp};
    case GroupKind::context:
      return {tp, dp, pp};
    case GroupKind::expert:
      return {dp, pp};
    case GroupKind::stages:
      return {tp, cp, dp};
    case GroupKind::data:
      return {tp, pp};
    case GroupKind::shard:
      return {tp, pp, dp / group};
    case GroupKind::replicas:
      return {tp, cp, pp, dp % group};
    case GroupKind::same_experts:
      return {ep, pp};
  }
  return {};
}

std::map<std::vector<int>, std::vector<int>> groups_of(const TrainingJob& job, GroupKind kind) {
  std::map<std::vector<int>, std::vector<int>> groups;
  for (int rank = 0; rank < job.gpus(); ++rank) groups[key_of(job, kind, rank)].push_back(rank);
  return groups;
}

/// Flows and exchanges, rank by rank.
struct Counted {
  int hops = 0;
  int hops_outside = 0;
  std::map<int, double> ring;      ///< of each leaf, in NICs of a domain
  std::map<int, double> exchange;  ///< likewise
};

Counted counted(const TrainingJob& job, GroupKind kind, int gpus, int leaf) {
  Counted all;
  for (const auto& [key, ranks] : groups_of(job, kind)) {
    std::vector<int> domains;
    for (const int rank : ranks) {
      if (domains.empty() || domains.back() != rank / gpus) domains.push_back(rank / gpus);
    }
    if (domains.size() < 2) continue;
    int outside = 0;
    for (std::size_t i = 0; i < domains.size(); ++i) {
      const int own = domains[i] / leaf;
      const double share =
          static_cast<double>(std::count_if(ranks.begin(), ranks.end(),
                                            [&](int rank) { return rank / gpus == domains[i]; })) /
          gpus;
      const bool leaves = domains[(i + 1) % domains.size()] / leaf != own;
      outside += leaves ? 1 : 0;
      all.ring[own] += leaves ? share : 0;
      const auto others =
          std::count_if(domains.begin(), domains.end(), [&](int domain) { return domain / leaf != own; });
      all.exchange[own] += share * static_cast<double>(others) / static_cast<double>(domains.size() - 1);
    }
    if (all.hops == 0 || outside > all.hops_outside) all.hops_outside = outside;
    all.hops = static_cast<int>(domains.size());
  }
  return all;
}

double largest(const std::map<int, double>& loads) {
  double most = 0;
  for (const auto& [leaf, load] : loads) most = std::max(most, load);
  return most;
}

/// A job of powers of two, but for the outermost dimension, in some order.
TrainingJob some_job(std::mt19937& random) {
  const auto power = [&](int maximum) { return 1 << std::uniform_int_distribution<int>(0, maximum)(random); };
  TrainingJob job{.tp = power(3), .pp = power(3), .cp = power(2), .dp = power(4)};
  std::shuffle(job.order.begin(), job.order.end(), random);
  if (job.order.back() == Dimension::dp) job.dp *= 3;
  if (job.order.back() == Dimension::pp) job.pp *= 3;
  const int stage = job.tp * job.cp * job.dp;
  job.ep = std::min(power(4), stage & -stage);
  if (job.dp % 4 == 0) job.shard_group = 2;
  return job;
}

TEST(Placement, IsThatOfACountOverAllRanks) {
  std::mt19937 random(22);
  int crossing = 0;
  for (int round = 0; round < 400; ++round) {
    const TrainingJob job = some_job(random);
    const int gpus = round % 2 == 0 ? 8 : 4;
    // The whole machine in whole domains, and no odd group that straddles them.
    if (job.gpus() % (3 * gpus) != 0 && job.gpus() % gpus != 0) continue;
    const bool odd = job.gpus() % 3 == 0;
    if (odd && job.gpus() / (job.order.back() == Dimension::pp ? job.pp : job.dp) % gpus != 0) continue;
    const int domains = job.gpus() / gpus;
    const int leaf = std::uniform_int_distribution<int>(1, 9)(random);
    for (const GroupKind kind : kKinds) {
      SCOPED_TRACE(words(job.order) + " " + std::string(name(kind)) + " of " + std::to_string(job.tp) + " " +
                   std::to_string(job.cp) + " " + std::to_string(job.ep) + " " + std::to_string(job.dp) +
                   " " + std::to_string(job.pp) + ", leaf " + std::to_string(leaf));
      const std::vector<RankRun> runs = group_runs(job, kind);
      const auto groups = groups_of(job, kind);
      const std::vector<int>& first = groups.at(key_of(job, kind, 0));
      ASSERT_EQ(first_ranks(runs, first.size()), first);
      const DomainRuns found = domain_runs(runs, gpus);
      std::set<int> distinct;
      for (const int rank : first) distinct.insert(rank / gpus);
      ASSERT_EQ(found.domains(), static_cast<int>(distinct.size()));
      ASSERT_EQ(found.ranks_in_domain * found.domains(), static_cast<int>(first.size()));
      const LeafCrossings crossings = leaf_crossings(found, domains, leaf, true);
      const Counted count = counted(job, kind, gpus, leaf);
      EXPECT_EQ(crossings.hops, count.hops);
      EXPECT_EQ(crossings.hops_outside, count.hops_outside);
      EXPECT_NEAR(crossings.load.ring, largest(count.ring), 1e-9);
      EXPECT_NEAR(crossings.load.exchange, largest(count.exchange), 1e-9);
      crossing += crossings.hops_outside > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(crossing, 300) << "groups that cross leaves";
}

// 3 context ranks between 2 stages and the data-parallel ranks, on nodes of 8: runs that were rounded to
// whole nodes need not come back to where they begin.
TEST(Placement, RunsThatDoNotNestHaveAnEnd) {
  const DomainRuns group{.ranks_in_domain = 1, .runs = {{2, 1}, {4, 3}}};
  const LeafCrossings crossings = leaf_crossings(group, 12, 4, true);
  EXPECT_GE(crossings.leaves, 1);
  EXPECT_LE(crossings.leaves, 3);
  EXPECT_GE(crossings.load.exchange, 0);
}

// Llama 3.1 70B on 128 nodes of eight: by hand.
TEST(Placement, ByHand) {
  TrainingJob job{.tp = 4, .pp = 4, .cp = 2, .dp = 32};
  EXPECT_EQ(group_runs(job, GroupKind::tensor), (std::vector<RankRun>{{4, 1}}));
  EXPECT_EQ(group_runs(job, GroupKind::data), (std::vector<RankRun>{{64, 4}}));
  EXPECT_EQ(group_runs(job, GroupKind::stages), (std::vector<RankRun>{{4, 256}}));
  EXPECT_TRUE(group_runs(job, GroupKind::expert).empty());
  EXPECT_EQ(first_ranks(group_runs(job, GroupKind::data), 3), (std::vector<int>{0, 4, 8}));
  // A stage is 32 nodes: with 32 below a leaf only its last hop, back to its first node, would leave it, and
  // stays.
  const DomainRuns data = domain_runs(group_runs(job, GroupKind::data), 8);
  EXPECT_EQ(data.domains(), 32);
  EXPECT_EQ(leaf_crossings(data, 128, 32, false).hops_outside, 0);
  EXPECT_EQ(leaf_crossings(data, 128, 16, false).hops_outside, 2);
  EXPECT_EQ(leaf_crossings(data, 128, 16, false).leaves, 2);
  const DomainRuns stages = domain_runs(group_runs(job, GroupKind::stages), 8);
  EXPECT_EQ(leaf_crossings(stages, 128, 32, false).hops_outside, 4);
  // All 32 nodes below a leaf send to the next stage at once.
  EXPECT_EQ(leaf_crossings(stages, 128, 32, false).load.ring, 32);
  // With the data-parallel ranks outermost, stages follow each other node by node.
  job.order = parse_rank_order("tp-cp-ep-pp-dp", "--order");
  EXPECT_EQ(group_runs(job, GroupKind::stages), (std::vector<RankRun>{{4, 8}}));
  EXPECT_EQ(group_runs(job, GroupKind::data), (std::vector<RankRun>{{2, 4}, {32, 32}}));
}

}  // namespace
}  // namespace collbench::analysis::placement_test
