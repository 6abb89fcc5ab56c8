#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/text_input.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"

// What attribution says of published measurements (docs/notes/burnin-trials.md has the tables).

namespace collbench::analysis {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Rows = std::vector<std::vector<std::string>>;

/// Without the heading; empty without COLLBENCH_CORPUS.
Rows published(const std::string& file) {
  const char* const corpus = std::getenv("COLLBENCH_CORPUS");  // NOLINT(concurrency-mt-unsafe)
  Rows rows;
  if (corpus == nullptr) return rows;
  const std::string text = read_file(std::string(corpus) + "/scaleout/" + file);
  for (const Line& line : clean_lines(text)) rows.push_back(split_cells(line.text, '\t'));
  rows.erase(rows.begin());
  return rows;
}

int number_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  names.push_back(name);
  return static_cast<int>(names.size()) - 1;
}

TEST(PublishedGroups, SlowGroupsOfABlackwellCluster) {
  const Rows rows = published("groups.tsv");
  if (rows.empty()) GTEST_SKIP() << "COLLBENCH_CORPUS is not set";
  BurninRecord record;
  for (const auto& row : rows) {
    if (row.size() < 6) continue;
    GroupLaunch launch{BurninPhase::groups, {}};
    for (const std::string& node : split_cells(row[3], ','))
      launch.nodes.push_back(number_of(record.table.nodes, node));
    for (const int column : {4, 5}) {
      const auto rate = leading_number(row[static_cast<std::size_t>(column)]);
      if (rate) record.groups.push_back({launch, column == 4 ? "ring" : "sharp", *rate * 1e9, *rate * 1e9});
    }
  }
  ASSERT_EQ(record.groups.size(), 32U);
  // Of the three that the operator calls "slow in both", those that are slow by what matters: the third is by
  // 3.9 % in the ring, and all by less than 2 % with SHARP.
  std::set<std::string> slow;
  for (const Blame& blame : attribute(record).blames) {
    EXPECT_EQ(blame.kind, BlameKind::group);
    slow.insert(record.table.nodes[slot_of(blame.nodes.front())]);
  }
  EXPECT_THAT(slow, ElementsAre("160", "186"));
}

/// "a" for a node, "a b" for a path.
std::set<std::string> blamed_in(const PairTable& table) {
  std::set<std::string> names;
  for (const Blame& blame : attribute(table).blames) {
    std::string name;
    for (const int node : blame.nodes) name += (name.empty() ? "" : " ") + table.nodes[slot_of(node)];
    names.insert(name);
  }
  return names;
}

TEST(PublishedPairs, WhomTheyBlame) {
  const Rows rows = published("pairs.tsv");
  if (rows.empty()) GTEST_SKIP() << "COLLBENCH_CORPUS is not set";
  std::map<std::string, PairTable> tables;
  for (const auto& row : rows) {
    PairTable& table = tables[row[0] + " " + row[1] + " " + row[2]];
    const int a = number_of(table.nodes, row[3]);
    const int b = number_of(table.nodes, row[4]);
    const double rate = leading_number(row[7]).value_or(0);
    if (rate <= 0) continue;  // a few of the published ones gave no time
    const double seconds = 1 / rate;
    table.times.push_back({a, b, 0, seconds, false});
    table.times.push_back({b, a, 0, seconds, false});
  }
  EXPECT_THAT(blamed_in(tables.at("cluster01 alltoall_perf 1")), IsEmpty());
  EXPECT_THAT(blamed_in(tables.at("cluster01 alltoall_perf 2")), IsEmpty());
  // Two groups, 2 % apart: nobody's fault, and less than matters.
  EXPECT_THAT(blamed_in(tables.at("cluster01 alltoall_perf 4")), IsEmpty());
  // The same eight paths in two tests of the same minute, and no node.
  const std::set<std::string> paths = blamed_in(tables.at("cluster00 alltoall_perf 1"));
  EXPECT_THAT(paths, AllOf(SizeIs(8), Each(HasSubstr(" "))));
  EXPECT_EQ(blamed_in(tables.at("cluster00 sendrecv_perf 1")), paths);
  // With four GPUs a node that is slow with other groups and fast with half of its own: no node is named; and
  // one of the eight paths.
  const std::set<std::string> with_four = blamed_in(tables.at("cluster00 sendrecv_perf 4"));
  EXPECT_THAT(with_four, AllOf(Contains(""), Not(Contains("cnode2-003"))));
  std::vector<std::string> again;
  std::set_intersection(paths.begin(), paths.end(), with_four.begin(), with_four.end(),
                        std::back_inserter(again));
  EXPECT_THAT(again, SizeIs(1));
  EXPECT_THAT(attribute(tables.at("cluster00 sendrecv_perf 4")).groups, SizeIs(2));
}

}  // namespace
}  // namespace collbench::analysis
