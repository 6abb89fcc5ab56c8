#include "tools/burnin/attribution/group_verdicts.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/document/text_layout.hpp"
#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Rates of AllReduce with 0.1 % of scatter, times what `share` says of the nodes.
void add_rates(BurninRecord& record, BurninPhase phase, const std::vector<std::vector<int>>& groups,
               const std::function<double(const std::vector<int>&)>& share, bool alone = false) {
  std::uint64_t counter = 7;
  for (const std::vector<int>& nodes : groups) {
    const double scatter = 1 + static_cast<double>(scrambled(counter++) % 2001) / 1e6 - 0.001;
    const double rate = 100e9 * scatter * share(nodes);
    record.groups.push_back({{phase, nodes, std::nullopt, alone}, "all_reduce", rate, rate});
  }
}

BurninRecord healthy_pairs(int nodes) {
  BurninRecord record;
  record.table = made_pairs(nodes, 1, [](int, int, int) { return 1.0; });
  record.bytes = 1e6;
  return record;
}

std::vector<std::vector<int>> singles(int nodes) {
  std::vector<std::vector<int>> all;
  for (int node = 0; node < nodes; ++node) all.push_back({node});
  return all;
}

double node_three_slow(const std::vector<int>& nodes) { return nodes.front() == 3 ? 0.9 : 1; }

std::string text_of(const ReportSection& section, int columns) {
  return text(Document{"", {section}}, {.columns = columns});
}

TEST(GroupVerdicts, AHostThatIsSlowByItselfIsSuspectAndSeenAgainBad) {
  BurninRecord record = healthy_pairs(8);
  add_rates(record, BurninPhase::nodes, singles(8), node_three_slow);
  Attribution found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::inside);
  EXPECT_FALSE(found.blames[0].confirmed);
  EXPECT_EQ(found.nodes[3].bucket, Bucket::suspect);
  const std::vector<GroupLaunch> retests = group_retests(record);
  ASSERT_THAT(retests, SizeIs(3));
  EXPECT_THAT(retests[0].nodes, ElementsAre(3));
  EXPECT_THAT(retests_of(record), IsEmpty());  // pairs would say nothing of it

  BurninRecord again = record;
  add_rates(again, BurninPhase::nodes, {{3}, retests[1].nodes, retests[2].nodes}, node_three_slow, true);
  found = attribute(again);
  EXPECT_TRUE(found.blames[0].confirmed);
  EXPECT_EQ(found.nodes[3].bucket, Bucket::bad);
  EXPECT_THAT(found.nodes[3].why, HasSubstr("taking 11."));
  // Not slow with nothing beside it: it was others' work.
  add_rates(
      record, BurninPhase::nodes, {{3}, retests[1].nodes, retests[2].nodes},
      [](const std::vector<int>&) { return 1.0; }, true);
  EXPECT_THAT(attribute(record).blames, IsEmpty());
}

TEST(GroupVerdicts, AGroupWhoseHalvesAreFineIsAPathAndNoNodesFault) {
  BurninRecord record = healthy_pairs(32);
  std::vector<std::vector<int>> fours;
  std::vector<std::vector<int>> eights;
  for (int first = 0; first < 32; first += 4) {
    fours.push_back({first, first + 1, first + 2, first + 3});
    if (first % 8 == 0)
      eights.push_back({first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7});
  }
  add_rates(record, BurninPhase::groups, fours, [](const auto&) { return 1.0; });
  add_rates(record, BurninPhase::groups, eights,
            [](const auto& nodes) { return nodes.front() == 8 ? 0.9 : 1.0; });
  Attribution found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::group);
  EXPECT_EQ(found.blames[0].nodes.size(), 8U);
  EXPECT_EQ(found.nodes[8].bucket, Bucket::good);
  // A slow group of 4 explains the 8 that it is in.
  for (GroupRate& rate : record.groups)
    if (rate.launch.nodes == std::vector<int>{8, 9, 10, 11}) rate.bus_bandwidth *= 0.9;
  found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].nodes.size(), 4U);
  // Beyond the others' scatter, and less than matters.
  for (GroupRate& rate : record.groups)
    if (rate.bus_bandwidth < 0.95 * record.groups.front().bus_bandwidth) rate.bus_bandwidth *= 0.96 / 0.9;
  EXPECT_THAT(attribute(record).blames, IsEmpty());
}

// Crossing a leaf switch costs a tenth, and nobody is to blame for it.
TEST(GroupVerdicts, GroupsThatCrossALeafAreComparedWithGroupsThatCrossAlike) {
  BurninRecord record = healthy_pairs(40);
  for (int node = 0; node < 40; ++node) record.table.leaf_of_node.push_back(node / 5);
  std::vector<std::vector<int>> fours;
  for (int first = 0; first < 40; first += 4) fours.push_back({first, first + 1, first + 2, first + 3});
  const auto crossing = [](const std::vector<int>& nodes) {
    return nodes.front() / 5 == nodes.back() / 5 ? 1.0 : 0.9;
  };
  add_rates(record, BurninPhase::groups, fours, crossing);
  EXPECT_THAT(attribute(record).blames, IsEmpty());
  EXPECT_THAT(group_retests(record), IsEmpty());
  // Of 10 groups 4 are below one switch, 4 are of 3 + 1 and 2 of 2 + 2 nodes.
  EXPECT_THAT(group_populations(record), SizeIs(3));
  const std::string text = text_of(group_section(record, BurninPhase::groups), 100);
  EXPECT_THAT(
      text,
      HasSubstr("not compared, for fewer than 4 were alike: 2 groups of 4 across 2 leaf switches (2 + 2)"));
  // One of the four that cross alike is slower than these.
  for (GroupRate& rate : record.groups)
    if (rate.launch.nodes.front() == 4) rate.bus_bandwidth *= 0.9;
  const Attribution found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_THAT(found.blames[0].evidence, HasSubstr("than groups of 4 across 2 leaf switches (3 + 1)"));
}

// Two sittings of one host may differ by 30 % there (docs/compare.md).
TEST(GroupVerdicts, OnHostMemoryAFifthSlowerTwiceIsNoBadHost) {
  for (const double share : {0.85, 0.7}) {
    BurninRecord record = healthy_pairs(8);
    const auto slow = [share](const std::vector<int>& nodes) { return nodes.front() == 3 ? share : 1; };
    add_rates(record, BurninPhase::nodes, singles(8), slow);
    add_rates(record, BurninPhase::nodes, {{3}, {4}, {5}}, slow, true);
    EXPECT_EQ(attribute(record).nodes[3].bucket, Bucket::bad) << "on GPUs";
    for (GroupRate& rate : record.groups) rate.host_memory = true;
    const NodeVerdict verdict = attribute(record).nodes[3];
    EXPECT_EQ(verdict.bucket, share > 0.8 ? Bucket::suspect : Bucket::bad) << share;
    if (share > 0.8) {
      EXPECT_THAT(verdict.why, HasSubstr("may differ by 30 % from one sitting to another"));
    }
  }
}

TEST(GroupVerdicts, OfThreeNobodyIsTheOddOne) {
  BurninRecord record = healthy_pairs(8);
  add_rates(record, BurninPhase::nodes, {{3}, {4}, {5}}, node_three_slow);
  EXPECT_THAT(attribute(record).blames, IsEmpty());
  EXPECT_TRUE(std::isnan(group_populations(record)[0].line));
}

TEST(GroupVerdicts, WithoutPairsWhoWasComparedIsGoodAndNobodyElse) {
  BurninRecord record;
  for (int node = 0; node < 6; ++node) record.table.nodes.push_back("n" + std::to_string(node));
  add_rates(record, BurninPhase::nodes, singles(5), node_three_slow);
  record.group_failures.push_back({{BurninPhase::nodes, {5}}, "n5: exit status 255"});
  const Attribution found = attribute(record);
  EXPECT_EQ(found.nodes[0].bucket, Bucket::good);
  EXPECT_EQ(found.nodes[3].bucket, Bucket::suspect);
  EXPECT_EQ(found.nodes[5].bucket, Bucket::not_tested);
  EXPECT_THAT(found.nodes[5].why, HasSubstr("exit status 255"));
}

TEST(GroupVerdicts, ASlowGroupOfNodesThatNobodyMeasuredSaysSo) {
  BurninRecord record;
  for (int node = 0; node < 32; ++node) record.table.nodes.push_back("n" + std::to_string(node));
  std::vector<std::vector<int>> fours;
  for (int first = 0; first < 32; first += 4) fours.push_back({first, first + 1, first + 2, first + 3});
  add_rates(record, BurninPhase::groups, fours,
            [](const auto& nodes) { return nodes.front() == 8 ? 0.6 : 1.0; });
  const Attribution found = attribute(record);
  ASSERT_EQ(found.blames.size(), 1U);
  EXPECT_THAT(found.blames[0].evidence, HasSubstr("and its nodes by themselves were not measured"));
}

TEST(GroupVerdicts, HealthySmallFleetsAreHardlyEverAccused) {
  for (const int nodes : {4, 5, 6, 8, 16}) {
    int accused = 0;
    constexpr int kFleets = 500;
    std::uint64_t counter = 1;
    for (int fleet = 0; fleet < kFleets; ++fleet) {
      std::vector<double> logs;
      for (int node = 0; node < nodes; ++node) {
        double sum = 0;  // of twelve uniform numbers: nearly normal, standard deviation 1
        for (int i = 0; i < 12; ++i) sum += static_cast<double>(scrambled(counter++) % 1'000'000) / 1e6;
        logs.push_back(0.05 * (sum - 6));
      }
      std::vector<double> sorted = logs;
      std::sort(sorted.begin(), sorted.end());
      const double middle = (sorted[sorted.size() / 2] + sorted[(sorted.size() - 1) / 2]) / 2;
      if (middle - sorted.front() > group_line(logs)) ++accused;
    }
    EXPECT_LE(accused, kFleets * 3 / 100) << nodes;
  }
}

/// What a sound machine makes at least of each job so far, as a share of what these make.
void set_floor(BurninRecord& record, double share) {
  for (GroupRate& rate : record.groups) {
    rate.floor = rate.bus_bandwidth * share;
    rate.machine = "hgx-h100";
  }
}

TEST(GroupVerdicts, AFleetOfEqualsAtHalfRateIsBelowInTheFirstLine) {
  BurninRecord record = healthy_pairs(8);
  add_rates(record, BurninPhase::nodes, singles(8), [](const auto&) { return 1.0; });
  set_floor(record, 1.6);
  const Attribution found = attribute(record);
  EXPECT_EQ(summary(record, found),
            "BELOW: 8 of 8 jobs below a sound hgx-h100; 8 nodes: 0 good, 8 suspect, 0 bad, 0 not tested");
  EXPECT_THAT(found.nodes[3].why, HasSubstr("by itself all_reduce makes "));
  EXPECT_THAT(found.nodes[3].why, HasSubstr(" GB/s of a sound hgx-h100"));
  set_floor(record, 0.9);
  EXPECT_THAT(summary(record, attribute(record)), testing::StartsWith("8 nodes: 8 good"));
}

TEST(GroupVerdicts, OfSoundNodesAJobBelowItsFloorIsNoNodesFault) {
  BurninRecord record = healthy_pairs(8);
  add_rates(record, BurninPhase::whole, {{0, 1, 2, 3, 4, 5, 6, 7}}, [](const auto&) { return 1.0; }, true);
  set_floor(record, 2);
  const Attribution found = attribute(record);
  EXPECT_THAT(summary(record, found), testing::StartsWith("BELOW: 1 of 1 job below a sound hgx-h100; "));
  EXPECT_THAT(nodes_in(found, Bucket::good), SizeIs(8));
  EXPECT_FALSE(passes(record, found));
}

TEST(GroupVerdicts, GroupsInCompanyAreBelowWhereOneIsBelowAlone) {
  BurninRecord record = healthy_pairs(8);
  const std::vector<std::vector<int>> groups{{0, 1, 2, 3}, {4, 5, 6, 7}};
  add_rates(record, BurninPhase::groups, groups, [](const auto& nodes) { return nodes[0] == 0 ? 1 : 1.01; });
  set_floor(record, 2);
  EXPECT_EQ(jobs_below_floor(record).judged, 0U) << "they share the network";
  ASSERT_THAT(group_retests(record), SizeIs(1));
  EXPECT_THAT(group_retests(record)[0].nodes, ElementsAre(0, 1, 2, 3)) << "the slowest, alone";
  add_rates(record, BurninPhase::groups, {groups[0]}, [](const auto&) { return 1.0; }, true);
  record.groups.back().floor = 150e9;
  EXPECT_EQ(jobs_below_floor(record).below, 1U);
  record.groups.back().floor = 50e9;
  EXPECT_EQ(jobs_below_floor(record).below, 0U);
}

TEST(GroupVerdicts, TheTableFitsItsWidth) {
  BurninRecord record = healthy_pairs(8);
  record.table.nodes[3] = "a-host-with-a-name-of-some-length.example";
  add_rates(record, BurninPhase::nodes, singles(8), node_three_slow);
  const std::string text = text_of(group_section(record, BurninPhase::nodes), 80);
  EXPECT_THAT(text, HasSubstr("phase nodes: each of 8 hosts by itself"));
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos;
       start = end + 1, end = text.find('\n', start))
    EXPECT_LE(display_width(text.substr(start, end - start)), 80) << text.substr(start, end - start);
  EXPECT_THAT(group_section(record, BurninPhase::whole).blocks, IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis
