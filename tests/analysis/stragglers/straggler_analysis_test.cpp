#include "analysis/stragglers/straggler_analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/pairing.hpp"

namespace collbench::analysis::straggler_analysis_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What is wrong with a made-up cluster.
struct Faults {
  int late_rank = -1;
  double late_entry_seconds = 0;
  double late_message_seconds = 0;
  int slow_sender = -1;  ///< first rank of a host
  int slow_receiver = -1;
  std::pair<int, int> slow_link{-1, -1};
};

/// A cluster whose times vary as on a busy machine: mostly little, sometimes tenfold.
class MadeUpCluster {
 public:
  MadeUpCluster(int hosts, int ranks_per_host, unsigned seed) : random_(seed) {
    for (int rank = 0; rank < hosts * ranks_per_host; ++rank) {
      const int node = rank / ranks_per_host;
      ranks.push_back({rank, "host" + std::to_string(node), node, rank % ranks_per_host});
    }
  }

  std::vector<ProbeRepetition> look(int repetitions, const Faults& faults) {
    std::vector<ProbeRepetition> looks;
    for (int i = 0; i < repetitions; ++i) looks.push_back(look_once(faults));
    return looks;
  }

  Identities ranks;

 private:
  ProbeRepetition look_once(const Faults& faults) {
    ProbeRepetition look;
    const int count = static_cast<int>(ranks.size());
    look.clock_uncertainty_seconds = 1e-6;
    for (int rank = 0; rank < count; ++rank) {
      look.entry_seconds.push_back(noise(2e-6) - noise(2e-6) +
                                   (rank == faults.late_rank ? faults.late_entry_seconds : 0));
      look.inside_seconds.push_back(noise(5e-6));
    }
    for (int round = 0; round < pairing_rounds(count); ++round) {
      for (int rank = 0; rank < count; ++rank) {
        const auto partner = pairing_partner(rank, round, count);
        if (!partner || *partner < rank) continue;
        const bool late = rank == faults.late_rank || *partner == faults.late_rank;
        const bool across = node(rank) != node(*partner);
        look.latencies.push_back(
            {rank, *partner, noise(across ? 20e-6 : 1e-6) + (late ? faults.late_message_seconds : 0)});
      }
    }
    for (const Identity& from : ranks) {
      for (const Identity& to : ranks) {
        if (from.local_rank != 0 || to.local_rank != 0 || from.node == to.node) continue;
        const bool slow = from.rank == faults.slow_sender || to.rank == faults.slow_receiver ||
                          std::pair(from.rank, to.rank) == faults.slow_link;
        look.transfers.push_back({from.rank, to.rank, noise(8e-3) * (slow ? 2 : 1)});
      }
    }
    return look;
  }

  [[nodiscard]] int node(int rank) const { return ranks[static_cast<std::size_t>(rank)].node; }

  /// About `seconds`; one in ten times more, up to tenfold.
  double noise(double seconds) {
    std::lognormal_distribution<double> usual(0, 0.05);
    std::uniform_real_distribution<double> factor(1, 10);
    std::bernoulli_distribution disturbed(0.1);
    return seconds * usual(random_) * (disturbed(random_) ? factor(random_) : 1);
  }

  std::mt19937_64 random_;
};

std::vector<std::string> found(const RankProbe& probe) {
  std::vector<std::string> codes;
  for (const ProbeFinding& finding : probe.findings) {
    std::string text(name(finding.kind));
    for (const int rank : finding.ranks) text += " " + std::to_string(rank);
    codes.push_back(text);
  }
  return codes;
}

RankProbe looked(MadeUpCluster& cluster, const Faults& faults) {
  return straggler_findings(cluster.look(14, faults), cluster.ranks);
}

TEST(LateRanks, NobodyIsNamedOnAHealthyCluster) {
  int named = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    for (const auto& [hosts, per_host] : {std::pair(1, 2), {1, 4}, {2, 1}, {2, 2}, {3, 1}, {4, 2}}) {
      MadeUpCluster cluster(hosts, per_host, seed);
      named += looked(cluster, {}).findings.empty() ? 0 : 1;
    }
  }
  EXPECT_LE(named, 7) << "of 2400 runs; one in a thousand is what is promised";
}

TEST(LateRanks, ARankThatEntersLateIsNamedWithWhatItCosts) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    for (const auto& [hosts, per_host] : {std::pair(1, 2), {1, 4}, {3, 1}, {2, 4}}) {
      MadeUpCluster cluster(hosts, per_host, seed);
      const RankProbe probe = looked(cluster, {.late_rank = 1, .late_entry_seconds = 50e-6});
      ASSERT_THAT(found(probe), ElementsAre("late rank 1"))
          << hosts << " x " << per_host << ", seed " << seed;
      EXPECT_NEAR(probe.findings[0].seconds, 50e-6, 10e-6);
      EXPECT_THAT(probe.findings[0].text, HasSubstr("rank 1 on host"));
    }
  }
}

TEST(LateRanks, ARankThatIsSlowWithEveryPartnerIsNamed) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    for (const auto& [hosts, per_host] : {std::pair(1, 3), {1, 4}, {3, 1}, {2, 4}}) {
      MadeUpCluster cluster(hosts, per_host, seed);
      const RankProbe probe = looked(cluster, {.late_rank = 1, .late_message_seconds = 50e-6});
      ASSERT_THAT(found(probe), ElementsAre("late rank 1"))
          << hosts << " x " << per_host << ", seed " << seed;
    }
  }
}

TEST(LateRanks, OfTwoRanksMessagesTellNothing) {
  MadeUpCluster cluster(1, 2, 1);
  EXPECT_THAT(looked(cluster, {.late_rank = 1, .late_message_seconds = 50e-6}).findings, IsEmpty());
}

TEST(LateRanks, ASlowHostIsNamedByItsDirection) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    for (const int hosts : {3, 4, 8}) {
      MadeUpCluster cluster(hosts, 1, seed);
      ASSERT_THAT(found(looked(cluster, {.slow_sender = 1})), ElementsAre("slow sender 1")) << hosts << seed;
      ASSERT_THAT(found(looked(cluster, {.slow_receiver = 2})), ElementsAre("slow receiver 2"))
          << hosts << seed;
      ASSERT_THAT(found(looked(cluster, {.slow_link = {0, 2}})), ElementsAre("slow link 0 2"))
          << hosts << seed;
    }
  }
}

TEST(LateRanks, BetweenTwoHostsTheDirectionIsNamed) {
  int named = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    MadeUpCluster cluster(2, 2, seed);
    const RankProbe probe = looked(cluster, {.slow_sender = 2});
    if (probe.findings.empty()) continue;
    ++named;
    ASSERT_THAT(found(probe), ElementsAre("slow link 2 0")) << seed;
    EXPECT_THAT(probe.findings[0].text,
                HasSubstr("the link from host1 to host0 is slow, but the reverse direction is not"));
    EXPECT_NEAR(probe.findings[0].ratio, 2, 0.2);
  }
  EXPECT_GE(named, 48)
      << "with one other direction to compare with, a disturbance there hides it now and then";
}

TEST(LateRanks, FewLooksExcludeNoChance) {
  MadeUpCluster cluster(1, 4, 1);
  EXPECT_THAT(
      straggler_findings(cluster.look(2, {.late_rank = 1, .late_entry_seconds = 50e-6}), cluster.ranks)
          .findings,
      IsEmpty());
  EXPECT_THAT(straggler_findings({}, cluster.ranks).findings, IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis::straggler_analysis_test
