#include "tools/burnin/attribution/halving.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include "base/deterministic_random.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/failure_verdicts.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"

namespace collbench::analysis {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// What a group makes of the rate of a sound one; none: it gives no result.
using Share = std::function<std::optional<double>(const GroupLaunch&)>;

bool has(const GroupLaunch& launch, int node) {
  return std::find(launch.nodes.begin(), launch.nodes.end(), node) != launch.nodes.end();
}

/// Groups of two and more with one of `nodes` make `share`.
Share slow(std::set<int> nodes, double share = 0.5) {
  return [nodes = std::move(nodes), share](const GroupLaunch& launch) -> std::optional<double> {
    const bool is_slow =
        launch.nodes.size() > 1 &&
        std::any_of(nodes.begin(), nodes.end(), [&launch](int node) { return has(launch, node); });
    return is_slow ? share : 1;
  };
}

BurninRecord fleet(int hosts, int leaf_nodes, int rails = 1) {
  BurninRecord record;
  for (int node = 0; node < hosts; ++node) {
    record.table.nodes.push_back(fmt::format("n{}", node));
    if (leaf_nodes > 0) record.table.leaf_of_node.push_back(node / leaf_nodes);
  }
  record.table.rails = rails;
  record.phases_left_out = {left_out(BurninPhase::pairs, "--diagnose")};
  return record;
}

struct Weather {
  double noise = 0.001;
  double floor = 0;  ///< of a sound group, as a share of what it makes; 0: not known
  std::uint64_t seed = 1;
};

/// Larger groups are slower, as on a real fabric, so that sizes cannot be mixed.
double sound_rate(const GroupLaunch& launch) {
  return 100e9 / std::sqrt(static_cast<double>(launch.nodes.size()));
}

void measure(BurninRecord& record, const GroupBatch& batch, const Share& share, const Weather& weather,
             std::uint64_t& counter) {
  std::set<int> busy;
  for (const GroupLaunch& launch : batch) {
    for (const int node : launch.nodes)
      EXPECT_TRUE(busy.insert(node).second) << "twice in a batch: n" << node;
    const std::optional<double> made = share(launch);
    if (!made) {
      record.group_failures.push_back({launch, "exit status 255: no route"});
      continue;
    }
    const auto uniform = [&counter] {
      return (static_cast<double>(scrambled(counter++) >> 11U) + 0.5) / 9007199254740992.0;
    };
    const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
    const double rate = sound_rate(launch) * *made * std::exp(weather.noise * normal);
    record.groups.push_back({launch, "all_reduce", rate, rate});
    if (weather.floor > 0 && !launch.rail) {
      record.groups.back().floor = weather.floor * sound_rate(launch);
      record.groups.back().machine = "hgx-h100";
    }
  }
}

/// All of it, and the retests behind it.
HalvingCost play(BurninRecord& record, const Share& share, const Weather& weather = {}) {
  std::uint64_t counter = scrambled(weather.seed);
  HalvingCost cost;
  for (GroupBatch batch = halving_of(record).next; !batch.empty(); batch = halving_of(record).next) {
    cost.launches += batch.size();
    if (++cost.rounds > 200) {
      ADD_FAILURE() << "it does not end";
      break;
    }
    measure(record, batch, share, weather, counter);
  }
  for (const GroupLaunch& launch : group_retests(record)) measure(record, {launch}, share, weather, counter);
  return cost;
}

/// Who is in no good bucket.
std::vector<int> not_good(const Attribution& found) {
  std::vector<int> nodes;
  for (const NodeVerdict& node : found.nodes)
    if (node.bucket != Bucket::good) nodes.push_back(node.node);
  return nodes;
}

TEST(Halving, OneSlowHostIsNamedWhereverItIs) {
  for (const int leaf_nodes : {0, 8, 7}) {
    for (int node = 0; node < 32; ++node) {
      BurninRecord record = fleet(32, leaf_nodes);
      play(record, slow({node}));
      const Attribution found = attribute(record);
      ASSERT_THAT(found.blames, SizeIs(1)) << node << " of leaves of " << leaf_nodes;
      EXPECT_EQ(found.blames[0].kind, BlameKind::node);
      EXPECT_THAT(found.blames[0].nodes, ElementsAre(node));
      EXPECT_TRUE(found.blames[0].confirmed) << found.blames[0].evidence;
      EXPECT_THAT(blame_words(found.blames[0]), HasSubstr("2.0"));
      EXPECT_THAT(blame_words(found.blames[0]), HasSubstr(", confirmed by exclusion and swap: n"));
      EXPECT_EQ(found.nodes[slot_of(node)].bucket, Bucket::bad);
      EXPECT_THAT(not_good(found), ElementsAre(node));
    }
  }
}

TEST(Halving, AWellFleetNeedsOneRoundAndOneAcrossLeaves) {
  BurninRecord record = fleet(64, 8);
  const HalvingCost cost = play(record, slow({}));
  EXPECT_EQ(cost.rounds, 2U);
  EXPECT_EQ(cost.launches, 8U + 4U);
  const Attribution found = attribute(record);
  EXPECT_THAT(found.blames, IsEmpty());
  EXPECT_TRUE(passes(record, found)) << summary(record, found);
}

TEST(Halving, SeveralInOneDomainAreAllNamed) {
  for (const std::set<int>& nodes :
       {std::set{2, 3}, std::set{0, 15}, std::set{4, 5, 6, 7}, std::set{0, 17, 34, 35}}) {
    BurninRecord record = fleet(64, 16);
    play(record, slow(nodes));
    const Attribution found = attribute(record);
    EXPECT_THAT(not_good(found), ::testing::ElementsAreArray(nodes));
    for (const int node : nodes)
      EXPECT_EQ(found.nodes[slot_of(node)].bucket, Bucket::bad) << found.nodes[slot_of(node)].why;
  }
}

// The median of the domains is then of slow ones.
TEST(Halving, WhereMostDomainsHaveASlowHostItIsStillFound) {
  std::set<int> nodes;
  for (int leaf = 0; leaf < 6; ++leaf) nodes.insert(leaf * 8 + leaf);
  BurninRecord record = fleet(64, 8);
  play(record, slow(nodes));
  EXPECT_THAT(not_good(attribute(record)), ::testing::ElementsAreArray(nodes));
}

TEST(Halving, AGroupWhosePartsAreWellIsAPathAndNobodysFault) {
  const Share path = [](const GroupLaunch& launch) { return has(launch, 3) && has(launch, 10) ? 0.6 : 1; };
  BurninRecord record = fleet(64, 16);
  play(record, path);
  Attribution found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::path);
  EXPECT_THAT(found.blames[0].nodes, ElementsAre(3, 10));
  EXPECT_TRUE(found.blames[0].confirmed);
  EXPECT_THAT(found.blames[0].evidence, HasSubstr("n0 to n15 (16 hosts): "));
  EXPECT_THAT(found.blames[0].evidence, HasSubstr("; narrowed to n3, n10: "));
  EXPECT_THAT(not_good(found), IsEmpty());
  EXPECT_FALSE(passes(record, found));
  // Of all 16 in their order only, or by several paths: it stays the group.
  record = fleet(64, 16);
  play(record,
       [](const GroupLaunch& launch) { return launch.nodes.size() == 16 && has(launch, 3) ? 0.6 : 1; });
  found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::group);
  EXPECT_THAT(found.blames[0].nodes, SizeIs(16));
  // In company only: others' traffic.
  record = fleet(64, 16);
  play(record, [&path](const GroupLaunch& launch) { return launch.alone ? 1 : path(launch); });
  EXPECT_THAT(attribute(record).blames, IsEmpty());
  // Not every time: other traffic again.
  record = fleet(64, 16);
  int alone = 0;
  play(record, [&](const GroupLaunch& launch) { return launch.alone && ++alone == 3 ? 1 : path(launch); });
  EXPECT_THAT(attribute(record).blames, IsEmpty());
  EXPECT_TRUE(passes(record, attribute(record)));
  // Not slower than others alone.
  record = fleet(64, 16);
  play(record, [&path](const GroupLaunch& launch) { return launch.alone ? 0.6 : path(launch); });
  found = attribute(record);
  EXPECT_THAT(found.blames, IsEmpty());
  EXPECT_THAT(found.doubt, HasSubstr("whether a path is slow, or other traffic slowed it: n0 to n15"));
  EXPECT_FALSE(passes(record, found));
  // Of two hosts.
  record = fleet(64, 16);
  play(record, [](const GroupLaunch& launch) { return has(launch, 2) && has(launch, 3) ? 0.6 : 1; });
  found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_THAT(found.blames[0].nodes, ElementsAre(2, 3));
}

TEST(Halving, WhoIsNotSlowBesideEveryHostIsNoSuspect) {
  BurninRecord record = fleet(64, 16);
  std::map<int, std::set<int>> met;
  play(record, [&met](const GroupLaunch& launch) -> std::optional<double> {
    for (const int node : {13, 14}) {
      if (launch.nodes.size() < 2 || !has(launch, node)) continue;
      for (const int other : launch.nodes) met[node].insert(launch.nodes.size() == 2 ? other : node);
      if (node == 13 || met[node].size() < 4) return 0.5;
    }
    return 1;
  });
  EXPECT_THAT(met[13], SizeIs(5)) << "itself, its neighbor and three well ones";
  EXPECT_THAT(not_good(attribute(record)), ElementsAre(13));
}

TEST(Halving, APathInADomainIsNoneBetweenDomains) {
  BurninRecord record = fleet(64, 8);
  play(record, [](const GroupLaunch& launch) { return has(launch, 3) && has(launch, 5) ? 0.6 : 1; });
  const Attribution found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::path);
  EXPECT_THAT(found.blames[0].nodes, ElementsAre(3, 5));
}

TEST(Halving, WhereGroupsOfTwoDomainsScatterItSaysSo) {
  BurninRecord record = fleet(64, 8);
  int across = 0;
  play(record,
       [&across](const GroupLaunch& launch) { return launch.nodes.size() == 16 ? 1.0 / (1 + ++across) : 1; });
  const Attribution found = attribute(record);
  EXPECT_THAT(found.blames, IsEmpty());
  EXPECT_THAT(found.doubt, HasSubstr("whether a path between domains is slow"));
  EXPECT_THAT(summary(record, found), HasSubstr("64 good, 0 suspect, 0 bad, 0 not tested; UNCLEAR, as said"));
  EXPECT_FALSE(passes(record, found));
}

TEST(Halving, BetweenTwoDomainsThatAreWellIsTheirPath) {
  BurninRecord record = fleet(64, 8);
  play(record, [](const GroupLaunch& launch) { return has(launch, 16) && has(launch, 24) ? 0.7 : 1; });
  const Attribution found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::trunk);
  EXPECT_THAT(found.blames[0].evidence, HasSubstr("n16 to n31 (16 hosts), of two domains that are well"));
  EXPECT_THAT(not_good(found), IsEmpty());
}

TEST(Halving, TheRailOfASlowNicIsNamed) {
  BurninRecord record = fleet(32, 8, 4);
  const auto nic = [](const GroupLaunch& launch) {
    return launch.nodes.size() > 1 && has(launch, 13) && launch.rail.value_or(2) == 2 ? 0.8 : 1;
  };
  play(record, nic);
  Attribution found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::nic);
  EXPECT_EQ(found.blames[0].rail, 2);
  EXPECT_TRUE(found.blames[0].confirmed);
  record = fleet(32, 8, 4);
  play(record, slow({13}));
  found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::host) << "on all of them";
  record = fleet(32, 8, 4);
  play(record, [](const GroupLaunch& launch) { return launch.rail ? 1 : *slow({13})(launch); });
  found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::host) << "with all of them at once";
  record = fleet(32, 8, 4);
  play(record, [](const GroupLaunch& launch) {
    return has(launch, 13) && launch.rail != 0 && launch.rail != 1 && launch.nodes.size() > 1 ? 0.5 : 1;
  });
  EXPECT_THAT(attribute(record).blames, SizeIs(2)) << "two NICs";
  // The other rail once slow by traffic is no second one.
  record = fleet(32, 8, 2);
  bool was_disturbed = false;
  play(record, [&was_disturbed](const GroupLaunch& launch) {
    if (!has(launch, 13) || launch.nodes.size() < 2) return 1.0;
    if (launch.rail.value_or(1) == 1) return 0.5;
    return std::exchange(was_disturbed, true) ? 1 : 0.85;
  });
  found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::nic);
  EXPECT_EQ(found.blames[0].rail, 1);
}

TEST(Halving, WhoIsSlowByItselfIsNoNetworksFault) {
  BurninRecord record = fleet(32, 8);
  play(record, [](const GroupLaunch& launch) { return has(launch, 13) ? 0.7 : 1; });
  const Attribution found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::inside);
  EXPECT_THAT(not_good(found), ElementsAre(13));
}

TEST(Halving, AHostThatGivesNothingIsHalvedDownTo) {
  BurninRecord record = fleet(32, 8);
  play(record, [](const GroupLaunch& launch) { return has(launch, 13) ? std::nullopt : std::optional(1.0); });
  Attribution found = attribute(record);
  EXPECT_THAT(not_good(found), ElementsAre(13));
  EXPECT_EQ(found.nodes[13].bucket, Bucket::not_tested);
  EXPECT_THAT(found.nodes[13].why, HasSubstr("no route"));
  EXPECT_THAT(nodes_not_reached(record), ElementsAre(13));
  // By itself it answers: its network.
  record = fleet(32, 8);
  play(record, [](const GroupLaunch& launch) {
    return has(launch, 13) && launch.nodes.size() > 1 ? std::nullopt : std::optional(1.0);
  });
  found = attribute(record);
  EXPECT_EQ(found.nodes[13].bucket, Bucket::bad);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_THAT(blame_words(found.blames[0]),
              HasSubstr("NIC or host, gives no result, confirmed by exclusion and swap: "));
  // Nothing at all: the launcher, after one round.
  record = fleet(32, 8);
  EXPECT_EQ(play(record, [](const GroupLaunch&) { return std::nullopt; }).rounds, 1U);
  found = attribute(record);
  EXPECT_THAT(summary(record, found), HasSubstr("no launch of phase halving worked"));
  EXPECT_EQ(found.nodes[0].why, "no launch of phase halving worked");
}

TEST(Halving, WithoutAFloorOrFourAlikeItCannotTell) {
  BurninRecord record = fleet(4, 0);
  play(record, slow({2}));
  const Attribution found = attribute(record);
  EXPECT_THAT(found.blames, IsEmpty());
  for (const NodeVerdict& node : found.nodes) {
    EXPECT_EQ(node.bucket, Bucket::not_tested);
    EXPECT_THAT(node.why, HasSubstr("cannot tell"));
  }
  // A floor can.
  record = fleet(4, 0);
  play(record, slow({2}), {.floor = 0.8});
  EXPECT_THAT(not_good(attribute(record)), ElementsAre(2));
}

TEST(Halving, AFleetOfEqualsIsBelowItsFloor) {
  BurninRecord record = fleet(32, 8);
  play(record, slow({}, 1), {.floor = 2});
  const Attribution found = attribute(record);
  EXPECT_THAT(summary(record, found), HasSubstr("below a sound hgx-h100; 32 nodes: 0 good"));
  EXPECT_FALSE(passes(record, found));
  record = fleet(32, 8);
  const HalvingCost with_floor = play(record, slow({20}), {.floor = 0.8});
  EXPECT_THAT(not_good(attribute(record)), ElementsAre(20));
  record = fleet(32, 8);
  EXPECT_LT(with_floor.launches, play(record, slow({20})).launches) << "no groups to compare with";
}

TEST(Halving, HealthyFleetsAreHardlyEverAccused) {
  int accused = 0;
  constexpr int kFleets = 200;
  for (int seed = 1; seed <= kFleets; ++seed) {
    for (const auto& [hosts, leaf_nodes] : {std::pair(32, 8), std::pair(16, 0)}) {
      BurninRecord record = fleet(hosts, leaf_nodes);
      play(record, slow({}), {.noise = 0.02, .seed = static_cast<std::uint64_t>(seed)});
      const Attribution found = attribute(record);
      accused += std::any_of(found.nodes.begin(), found.nodes.end(),
                             [](const NodeVerdict& node) {
                               return node.bucket == Bucket::bad || node.bucket == Bucket::suspect;
                             }) ||
                         !found.blames.empty()
                     ? 1
                     : 0;
    }
  }
  EXPECT_LE(accused, 2 * kFleets / 100);
}

TEST(Halving, NvlinkAndTheNetworkAreDistinguished) {
  const auto broken = [](bool over_nvlink, bool over_network) {
    BurninRecord record = fleet(64, 16);
    record.nvlink_nodes = 8;
    play(record, [=](const GroupLaunch& launch) {
      const bool is_slow =
          launch.nodes.size() > 1 && has(launch, 21) && (launch.without_nvlink ? over_network : over_nvlink);
      return is_slow ? 0.6 : 1;
    });
    return attribute(record);
  };
  for (const auto& [over_nvlink, over_network, kind] :
       {std::tuple(true, false, BlameKind::nvlink), std::tuple(false, true, BlameKind::node),
        std::tuple(true, true, BlameKind::host)}) {
    const Attribution found = broken(over_nvlink, over_network);
    ASSERT_THAT(found.blames, SizeIs(1));
    EXPECT_EQ(name(found.blames[0].kind), name(kind));
    EXPECT_TRUE(found.blames[0].confirmed);
    EXPECT_THAT(not_good(found), ElementsAre(21));
  }
}

TEST(Halving, ACutOneGoesOnWithItsRecord) {
  BurninRecord whole = fleet(32, 8, 2);
  whole.nvlink_nodes = 8;
  play(whole, slow({9}));
  BurninRecord record = fleet(32, 8, 2);
  record.nvlink_nodes = 8;
  std::uint64_t counter = scrambled(Weather{}.seed);
  for (GroupBatch batch = halving_of(record).next; !batch.empty(); batch = halving_of(record).next) {
    ASSERT_LT(record.groups.size(), 2 * whole.groups.size()) << "it does not end";
    EXPECT_NE(attribute(record).nodes[9].bucket, Bucket::good);
    measure(record, batch, slow({9}), {}, counter);
    record = burnin_from_json(burnin_json(record), "burnin.json");
  }
  EXPECT_EQ(record.groups.size(), whole.groups.size() - group_retests(whole).size());
  EXPECT_THAT(not_good(attribute(record)), ElementsAre(9));
}

TEST(Halving, AHostWithoutAVerdictIsNotGood) {
  BurninRecord record = fleet(32, 8);
  std::uint64_t counter = 1;
  for (int round = 0; round < 3; ++round) measure(record, halving_of(record).next, slow({9}), {}, counter);
  const Attribution found = attribute(record);
  EXPECT_EQ(found.nodes[9].bucket, Bucket::not_tested);
  EXPECT_THAT(found.nodes[9].why, HasSubstr("phase halving ended before"));
  EXPECT_EQ(found.nodes[0].bucket, Bucket::good);
}

TEST(Halving, OneSlowNicTakesWhatIsExpected) {
  for (const bool has_floor : {false, true}) {
    const Share nic = [](const GroupLaunch& launch) { return launch.rail == 1 ? 1 : slow({70})(launch); };
    BurninRecord record = fleet(256, 32, 2);
    std::uint64_t counter = 1;
    const Weather weather{.floor = has_floor ? 0.8 : 0};
    measure(record, halving_of(record).next, nic, weather, counter);
    const Halving first = halving_of(record);
    ASSERT_THAT(first.slow_domains, SizeIs(1));
    EXPECT_THAT(first.slow_domains[0], SizeIs(32));
    const HalvingCost expected = expected_cost(record, {first.slow_domains[0].back()}, 128);
    const HalvingCost taken = play(record, nic, weather);
    EXPECT_EQ(taken.rounds, expected.rounds);
    EXPECT_EQ(taken.launches, expected.launches);
    EXPECT_GT(expected_cost(fleet(256, 32, 2), {70}, 4).rounds, expected.rounds + 1);
  }
}

}  // namespace
}  // namespace collbench::analysis
