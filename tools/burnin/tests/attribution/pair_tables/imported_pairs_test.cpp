#include "tools/burnin/attribution/pair_tables/imported_pairs.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include <tuple>

#include "base/error.hpp"
#include "tools/burnin/report/burnin_report.hpp"
#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

BurninRecord read(std::string_view text, const PairTableChoice& choice = {}) {
  return burnin_from_pairs(text, "pairs.tsv", choice);
}

/// What the refusal says; empty where it is read.
std::string refusal(std::string_view text, const PairTableChoice& choice = {}) {
  try {
    (void)read(text, choice);
  } catch (const Error& error) {
    return describe(error);
  }
  return {};
}

/// n0 to n5, each pair once; n2 at half in all of its pairs.
std::string slow_node(char separator, std::string_view heading) {
  std::string text(heading);
  for (int a = 0; a < 6; ++a) {
    for (int b = a + 1; b < 6; ++b)
      text += fmt::format("n{}{}n{}{}{}\n", a, separator, b, separator,
                          a == 2 || b == 2 ? 23.9 : 48 + 0.01 * (a + b));
  }
  return text;
}

std::vector<std::string> blamed(const BurninRecord& record) {
  std::vector<std::string> names;
  for (const Blame& blame : attribute(record).blames) {
    for (const int node : blame.nodes) names.push_back(record.table.nodes[slot_of(node)]);
  }
  return names;
}

TEST(ImportedPairs, ATableOfAnySeparatorNamesItsSlowNode) {
  for (const auto& [separator, heading] :
       std::vector<std::pair<char, std::string>>{{'\t', "node_a\tnode_b\tbusbw\n"},
                                                 {',', "Host A,Host B,Bandwidth (GB/s)\n"},
                                                 {';', "node1;node2;rate\n"},
                                                 {' ', "# by hand\nnodeA nodeB busbw\n"},
                                                 {'|', "|a|b|busbw|\n|---|---|---:|\n"}}) {
    EXPECT_THAT(blamed(read(slow_node(separator, heading))), ElementsAre("n2")) << heading;
  }
}

TEST(ImportedPairs, OneRateOfAPairIsBothDirectionsAndThatIsSaid) {
  const BurninRecord record = read(slow_node(',', "node_a,node_b,busbw\n"));
  EXPECT_THAT(record.table.times, SizeIs(30));
  EXPECT_THAT(record.source, AllOf(HasSubstr("column busbw in GB/s (the column names no unit)"),
                                   HasSubstr("sending and receiving are not told apart")));
  EXPECT_THAT(burnin_text(record, 120), HasSubstr("measured by others: pairs.tsv"));
  const BurninRecord directed = read(slow_node(',', "src,dst,Gb/s bandwidth\n"));
  EXPECT_THAT(directed.table.times, SizeIs(30));
  // Each pair in one direction only, whatever the columns are called.
  EXPECT_THAT(directed.source, HasSubstr("sending and receiving are not told apart"));
  EXPECT_NEAR(directed.bytes / directed.table.times.front().seconds, 48.01e9 / 8, 1e6);
}

TEST(ImportedPairs, WhatBurninWritesIsReadBack) {
  BurninRecord record = read(slow_node(',', "from,to,busbw\n") + "n2,n0,x\n");
  record.table.rails = 2;
  record.table.times.push_back({0, 1, 1, record.bytes / 47e9, false});
  record.table.times.push_back({2, 1, 0, record.bytes / 23e9, true});
  record.table.times.push_back({2, 1, 0, record.bytes / 24e9, true});
  record.table.times.push_back({.from = 0, .to = 1, .rail = 0, .seconds = record.bytes / 24e9, .repeat = 2});
  const BurninRecord again = burnin_from_pairs(burnin_csv(record), "again.csv", {});
  EXPECT_EQ(again.table.nodes, record.table.nodes);
  ASSERT_THAT(again.table.times, SizeIs(record.table.times.size()));
  for (std::size_t i = 0; i < again.table.times.size(); ++i) {
    EXPECT_NEAR(again.table.times[i].seconds, record.table.times[i].seconds, 1e-5);
    EXPECT_EQ(again.table.times[i].alone, record.table.times[i].alone);
    EXPECT_EQ(again.table.times[i].repeat, record.table.times[i].repeat);
    EXPECT_EQ(again.table.times[i].rail, record.table.times[i].rail);
  }
  const BurninRecord of_matrix = burnin_from_pairs(burnin_matrix(record), "matrix.txt", {});
  EXPECT_EQ(of_matrix.table.nodes, record.table.nodes);
  EXPECT_EQ(of_matrix.table.rails, 2);
  EXPECT_THAT(of_matrix.failures, SizeIs(1));  // though its x stands in both directions
}

TEST(ImportedPairs, AMatrixIsFromRowToColumn) {
  const std::string own =
      "rail 0, GB/s from each row to each column (-: not measured, x: gave no time)\n"
      "      n0 n1 n2 n3\n  n0    48 47 48\n  n1 48    47 -\n  n2 24 24    x\n  n3 48 48 47\n";
  const std::string csv = ",n0,n1,n2,n3\nn0,0,48,47,48\nn1,48,0,47,\nn2,24,24,0,fail\nn3,48,48,47,0\n";
  for (const std::string& text : {own, csv}) {
    const BurninRecord record = read(text);
    EXPECT_THAT(record.table.nodes, ElementsAre("n0", "n1", "n2", "n3"));
    EXPECT_THAT(record.table.times, SizeIs(10));
    ASSERT_THAT(record.failures, SizeIs(1));
    EXPECT_EQ(record.failures[0].a, 2);
    EXPECT_EQ(record.failures[0].b, 3);
  }
}

TEST(ImportedPairs, RailsByNumberOrByName) {
  std::string text = "from,to,hca,busbw\n";
  for (const char* nic : {"mlx5_0", "mlx5_3"}) {
    for (int a = 0; a < 5; ++a) {
      for (int b = 0; b < 5; ++b) {
        if (a != b)
          text += fmt::format("n{},n{},{},{}\n", a, b, nic, (a == 1 || b == 1) && nic[5] == '3' ? 24 : 48);
      }
    }
  }
  const BurninRecord record = read(text);
  EXPECT_EQ(record.table.rails, 2);
  EXPECT_THAT(record.source, HasSubstr("rail 0 is mlx5_0, rail 1 is mlx5_3"));
  const Attribution found = attribute(record);
  ASSERT_THAT(found.blames, SizeIs(1));
  EXPECT_EQ(found.blames[0].kind, BlameKind::nic);
  EXPECT_EQ(found.blames[0].rail, 1);
}

TEST(ImportedPairs, SeveralMeasurementsOfOnePairHaveToBeChosenFrom) {
  std::string text = "test,gpus,node_a,node_b,min,avg_busbw,peak_busbw\n";
  for (const char* test : {"alltoall", "sendrecv"}) {
    for (int a = 0; a < 4; ++a) {
      for (int b = a + 1; b < 4; ++b)
        text += fmt::format("{},1,n{},n{},33554432,{}.5,50.1\n", test, a, b, 40 + a);
    }
  }
  EXPECT_THAT(refusal(text), AllOf(HasSubstr("pairs.tsv:8"), HasSubstr("test is alltoall and sendrecv"),
                                   HasSubstr("--where COLUMN=CELL")));
  const BurninRecord record = read(text, {.column = "", .where = {{"test", "sendrecv"}}});
  EXPECT_THAT(record.table.times, SizeIs(12));
  EXPECT_THAT(record.source, AllOf(HasSubstr("column avg_busbw"), HasSubstr("rows of test sendrecv")));
  EXPECT_THAT(read(text, {.column = "peak_busbw", .where = {{"test", "sendrecv"}}}).source,
              HasSubstr("column peak_busbw"));
  EXPECT_THAT(refusal(text, {.column = "", .where = {{"tests", "sendrecv"}}}),
              AllOf(HasSubstr("no column is named 'tests'"), HasSubstr("there are test, gpus")));
  EXPECT_THAT(refusal(text, {.column = "", .where = {{"test", "all"}}}), HasSubstr("no row has the cells"));
}

TEST(ImportedPairs, ManySlowPathsAreOneSentence) {
  std::string text = "node_a,node_b,busbw\n";
  for (int a = 0; a < 12; ++a) {
    for (int b = a + 1; b < 12; ++b) text += fmt::format("n{},n{},{}\n", a, b, b == a + 6 ? 20 : 48);
  }
  const std::string said = burnin_text(read(text), 120);
  EXPECT_THAT(said, AllOf(HasSubstr("6 paths, none of them measured alone"), HasSubstr("n0 and n6 +140.0 %"),
                          Not(HasSubstr("ibtracert between n0"))));
}

TEST(ImportedPairs, OfASlowReferenceNobodyElseIsAccused) {
  std::string text = "from,to,busbw\n";
  for (int i = 1; i < 16; ++i) text += fmt::format("ref,n{},{}\n", i, 30 + 0.01 * i);
  BurninRecord record = read(text);
  EXPECT_THAT(burnin_text(record, 400),
              HasSubstr("ref not tested: this design cannot tell: it is in all pairs"));
  record.expected = 48e9;
  EXPECT_THAT(burnin_text(record, 400),
              AllOf(HasSubstr("16 nodes: 0 good, 1 suspect, 0 bad, 15 not tested"),
                    HasSubstr("ref suspect: its fastest pair makes 30.15 of the expected 48 GB/s"),
                    HasSubstr("n3 not tested: this design cannot tell: its fastest pair makes 30.03 of the "
                              "expected 48 GB/s, and it met ref only, whose pairs all are below")));
  record.expected = 30e9;
  EXPECT_THAT(burnin_text(record, 400), HasSubstr("16 nodes: 16 good"));
}

TEST(ImportedPairs, WhoIsSlowInOneColumnOnlyIsNotTested) {
  std::string text = "node_a,node_b,avg_busbw,peak_busbw\n";
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b)
      text += fmt::format("n{},n{},{},{}\n", a, b, a == 2 || b == 2 ? 24 : 48 + 0.01 * b, 50 + 0.01 * b);
  }
  const BurninRecord record = read(text);
  EXPECT_THAT(burnin_text(record, 400), HasSubstr("n2 not tested: the columns disagree: slow by"));
  EXPECT_THAT(blamed(record), SizeIs(0));
  EXPECT_THAT(blamed(read(text, {.column = "avg_busbw", .where = {}})), ElementsAre("n2"));
  EXPECT_THAT(blamed(burnin_from_json(burnin_json(record), "again.json")), SizeIs(0));
}

TEST(ImportedPairs, ARateOfEachNodeAndOfGroups) {
  std::string nodes = "node,busbw\n";
  std::string groups = "nodes;busbw\n";
  for (int i = 0; i < 8; ++i) {
    nodes += fmt::format("n{},{}\n", i, i == 5 ? 40 : 48 + 0.01 * i);
    groups += fmt::format("n{},n{};{}\n", 2 * i, 2 * i + 1, i == 3 ? 40 : 48 + 0.01 * i);
  }
  EXPECT_THAT(blamed(read(nodes)), ElementsAre("n5"));
  EXPECT_THAT(burnin_text(read(groups), 400),
              AllOf(HasSubstr("16 nodes: 14 good, 0 suspect, 0 bad, 2 not tested"),
                    HasSubstr("n6, n7 not tested: this design cannot tell: in a group of 2")));
}

TEST(ImportedPairs, TheQuickestOfRepeatsCounts) {
  const BurninRecord record = read(slow_node(',', "from,to,busbw\n") + "n0,n1,60.5\nn0,n1,20.5\n");
  EXPECT_THAT(record.table.times, SizeIs(30));
  EXPECT_NEAR(record.bytes / record.table.times.front().seconds, 60.5e9, 1e6);
  EXPECT_THAT(record.source, HasSubstr("; 2 rows measured a pair again, and the quickest of a pair counts"));
}

TEST(ImportedPairs, ARateOfEachNodeIsHeldAgainstWhatIsExpected) {
  std::string nodes = "node,busbw\n";
  for (int node = 0; node < 12; ++node) nodes += fmt::format("n{},{}\n", node, node == 4 ? 47.0 : 48.6);
  BurninRecord record = read(nodes);
  EXPECT_THAT(burnin_text(record, 200), HasSubstr("12 nodes: 12 good"));
  record.expected = 50e9;
  EXPECT_THAT(burnin_text(record, 200), AllOf(HasSubstr("12 nodes: 11 good, 1 suspect"),
                                              HasSubstr("n4 suspect: it makes 47 of the expected 50 GB/s")));
  record.expected = 100e9;
  EXPECT_THAT(
      burnin_text(record, 200),
      testing::StartsWith("BELOW: 12 of 12 nodes make less than 95 % of the expected 100 GB/s (the fastest "
                          "48.6); 12 nodes: 0 good, 12 suspect"));
  EXPECT_THAT(burnin_text(record, 200), HasSubstr("less than 95 % of it is below"));
}

TEST(ImportedPairs, ARowThatFailedByAnotherColumnHasNoRate) {
  for (const auto& [column, sound, failed] :
       std::vector<std::tuple<const char*, const char*, const char*>>{{"status", "OK", "FAILED"},
                                                                      {"result", "pass", "timeout (600 s)"},
                                                                      {"#wrong", "0", "512"},
                                                                      {"rc", "0", "134"}}) {
    std::string text = fmt::format("from,to,busbw,{}\n", column);
    for (int a = 0; a < 6; ++a)
      for (int b = 0; b < 6; ++b)
        if (a != b) text += fmt::format("n{},n{},48,{}\n", a, b, a == 3 || b == 3 ? failed : sound);
    const std::string said = burnin_text(read(text), 400);
    EXPECT_THAT(said, HasSubstr(fmt::format("; 10 rows failed by {}", column)));
    EXPECT_THAT(said, HasSubstr("6 nodes: 5 good")) << column;
    std::string nodes = fmt::format("node,busbw,{}\n", column);
    for (int node = 0; node < 6; ++node)
      nodes += fmt::format("n{},48,{}\n", node, node == 3 ? failed : sound);
    EXPECT_THAT(burnin_text(read(nodes), 400), HasSubstr("6 nodes: 5 good")) << column;
  }
}

TEST(ImportedPairs, FewNodesAndScatteringOnesAreHeldAgainstWhatIsExpectedToo) {
  BurninRecord few = read("node,busbw\nn1,20\nn2,39\nn3,20.2\n");
  EXPECT_THAT(burnin_text(few, 400), HasSubstr("3 nodes: 0 good, 0 suspect, 0 bad, 3 not tested"));
  few.expected = 40e9;
  EXPECT_THAT(
      burnin_text(few, 400),
      AllOf(testing::StartsWith("BELOW: 2 of 3 nodes make less than 95 % of the expected 40 GB/s (the "
                                "fastest 39); 3 nodes: 1 good, 2 suspect"),
            HasSubstr("n1 suspect: it makes 20 of the expected 40 GB/s")));
  BurninRecord wide = read("node,busbw\nn1,20\nn2,40\nn3,28\nn4,35\nn5,22\nn6,38.1\n");
  wide.expected = 40e9;
  EXPECT_THAT(burnin_text(wide, 400),
              AllOf(testing::StartsWith("BELOW: 4 of 6 nodes"), HasSubstr("6 nodes: 2 good, 4 suspect"),
                    Not(HasSubstr("passes unseen"))));
}

TEST(ImportedPairs, WhoCannotBeComparedIsHeldAgainstWhatIsExpected) {
  // A ring of pairs that scatter too much to see a loss of 10 %.
  std::string ring = "from,to,busbw\n";
  std::string all = ring;
  for (int i = 0; i < 10; ++i)
    ring += fmt::format("n{},n{},{}\n", i, (i + 1) % 10, i == 4 || i == 5 ? 20 : 40 + i % 4);
  BurninRecord record = read(ring);
  record.expected = 40e9;
  // n5's pairs are both slow; n4 and n6 have another that is not.
  EXPECT_THAT(burnin_text(record, 400),
              AllOf(testing::StartsWith("BELOW: 1 of 10 nodes make"), HasSubstr("n5 suspect: ")));
  record.expected = 80e9;
  EXPECT_THAT(burnin_text(record, 400), HasSubstr("and it met n1 and n9 only, whose pairs all are below"));
  for (int a = 0; a < 5; ++a)
    for (int b = a + 1; b < 5; ++b) all += fmt::format("n{},n{},20\n", a, b);
  record = read(all + "n5,n0,20\n");
  EXPECT_EQ(attribute(record).nodes[5].bucket, Bucket::not_tested);
  record.expected = 40e9;
  EXPECT_THAT(burnin_text(record, 400), AllOf(testing::StartsWith("BELOW: 6 of 6 nodes make"),
                                              Not(HasSubstr("shows only with --expected"))));
}

TEST(ImportedPairs, AGroupBelowWhatIsExpectedIsSaidAndNoNodeOfIt) {
  BurninRecord record = read("nodes;busbw\na,b;40\nc,d;20\n");
  record.expected = 40e9;
  EXPECT_THAT(
      burnin_text(record, 400),
      AllOf(testing::StartsWith("BELOW: 2 of 4 nodes"),
            HasSubstr("c, d not tested: this design cannot tell: the fastest group with it makes 20 of")));
}

TEST(ImportedPairs, ACellThatSaysNothingLeavesTheRestWhatItIs) {
  std::string pairs = "from,to,busbw\n";
  std::string nodes = "node,busbw\n";
  for (int i = 2; i < 12; ++i) {
    pairs += fmt::format("n1,n{},48.{}\n", i, i % 3);
    nodes += fmt::format("n{},48.{}\n", i, i % 3);
  }
  for (const char* const nothing : {"", "-", "nan", "n/a"}) {
    EXPECT_THAT(burnin_text(read(pairs + fmt::format("n1,m0,{}\n", nothing)), 400),
                AllOf(testing::StartsWith("12 nodes: 10 good, 0 suspect, 0 bad, 2 not tested\n"),
                      HasSubstr("m0 not tested: not measured\n")));
    EXPECT_THAT(burnin_text(read(nodes + fmt::format("m0,{}\n", nothing)), 400),
                AllOf(testing::StartsWith("11 nodes: 10 good, 0 suspect, 0 bad, 1 not tested\n"),
                      HasSubstr("m0 not tested: not measured\n")));
  }
  for (const char* const failed : {"x", "inf", "timeout", "TIMEOUT (600 s)", "0", "hung"}) {
    EXPECT_THAT(
        burnin_text(read(pairs + fmt::format("n1,m0,{}\n", failed)), 400),
        AllOf(testing::StartsWith("12 nodes: 10 good, 0 suspect, 0 bad, 2 not tested; 1 gave no rate\n"),
              HasSubstr("m0 not tested: n1 with m0: no rate in pairs.tsv:12\n")));
    EXPECT_THAT(
        burnin_text(read(nodes + fmt::format("m0,{}\n", failed)), 400),
        AllOf(testing::StartsWith("11 nodes: 10 good, 0 suspect, 0 bad, 1 not tested; 1 gave no rate\n"),
              HasSubstr("m0 not tested: no result in phase nodes: no rate in pairs.tsv:12\n")));
  }
  EXPECT_THAT(refusal("a,b,busbw\nn0,n1,-\nn2,n3,\n"), HasSubstr("no cell has a rate"));
  EXPECT_THAT(refusal("node,busbw\nn0,-\nn1,\n"), HasSubstr("no cell has a rate"));
  EXPECT_THAT(burnin_text(read("node,busbw\nn0,x\nn1,x\n"), 400), Not(HasSubstr("pairs: nothing")));
}

TEST(ImportedPairs, AHostHasOneNodeWhateverItIsCalled) {
  std::string nodes = "node,busbw\n";
  for (int i = 0; i < 8; ++i) nodes += fmt::format("n{},48\n", i);
  EXPECT_THAT(refusal(nodes + "N3.example.com,48\n"),
              HasSubstr("N3.example.com stands there twice; n3 is also"));
  // Two domains are two hosts.
  EXPECT_THAT(read(nodes + "n3.a.com,48\nN3.b.com,48\n").table.nodes, SizeIs(10));
  const BurninRecord record = read(slow_node(',', "node_a,node_b,busbw\n") + "N3,n0.example.com,48\n");
  EXPECT_THAT(record.table.nodes, SizeIs(6));
  EXPECT_THAT(record.source, HasSubstr("; n0 is also n0.example.com; n3 is also N3"));
}

TEST(ImportedPairs, GroupsThatShareNodesAreSoCalledAndClear) {
  const BurninRecord record =
      read("nodes busbw\na,b,c,d 300\nc,d,e,f 301\ne,f,g,h 299\ng,h,a,b 302\na,c,e,g 250\n");
  EXPECT_THAT(burnin_text(record, 400), AllOf(Not(HasSubstr("disjoint")), HasSubstr("8 nodes: 8 good"),
                                              HasSubstr("between nodes of a group, 1.20 times")));
  EXPECT_THAT(refusal("nodes busbw\na,b,a 300\n"), HasSubstr("a,b,a has a node twice"));
}

TEST(ImportedPairs, RowsOfANodeWithItselfAreCountedAndLeftOut) {
  const BurninRecord record =
      read(slow_node(',', "node_a,node_b,busbw\n") + "n1,n1,300\nn1,n1,310\nn7,n7,300\n");
  EXPECT_THAT(record.table.times, SizeIs(30));
  EXPECT_THAT(record.source, HasSubstr("; 3 rows of a node with itself left out"));
  EXPECT_THAT(burnin_text(record, 400), HasSubstr("n7 not tested"));
}

TEST(ImportedPairs, WithoutAColumnOfRailsNoRailIsNamed) {
  EXPECT_THAT(burnin_text(read(slow_node(',', "a,b,busbw\n") + "n0,n1,x\nn0,n6,48\n"), 400),
              Not(HasSubstr("rail 0")));
}

TEST(ImportedPairs, ANodeWithoutARateFailedOnceWithEachOther) {
  std::string text = "from,to,busbw\n";
  for (int from = 0; from < 6; ++from) {
    for (int to = 0; to < 6; ++to)
      if (from != to) text += fmt::format("n{},n{},{}\n", from, to, from == 4 || to == 4 ? "failed" : "48");
  }
  const BurninRecord record = read(text);
  ASSERT_THAT(record.failures, SizeIs(5));
  EXPECT_EQ(record.failures.front().why, "n0 with n4: no rate in pairs.tsv:5");
  EXPECT_THAT(burnin_text(record, 200), HasSubstr("n4 not tested: n4 with n5: no rate in pairs.tsv:26"));
}

TEST(ImportedPairs, ASlowPathIsOfNoSingleNode) {
  std::string text = "from,to,busbw\n";
  for (int from = 0; from < 6; ++from) {
    for (int to = 0; to < 6; ++to)
      if (from != to)
        text += fmt::format("n{},n{},{}\n", from, to, from + to == 3 && from * to == 2 ? 24 : 48);
  }
  EXPECT_THAT(
      burnin_text(read(text), 200),
      HasSubstr("6 nodes: 6 good, 0 suspect, 0 bad, 0 not tested; the findings below are of no single node"));
}

TEST(ImportedPairs, AReversedRowOrTwoLeaveThePairsWhatTheyAre) {
  const BurninRecord record = read(slow_node(',', "node_a,node_b,busbw\n") + "n1,n0,48\n");
  EXPECT_THAT(record.table.times, SizeIs(30));
  EXPECT_THAT(record.source, HasSubstr("most pairs have one rate, taken for both directions"));
  EXPECT_THAT(blamed(record), ElementsAre("n2"));
}

TEST(ImportedPairs, NamesLikeColumnsAreAMatrixAllTheSame) {
  const BurninRecord record =
      read(",node1,node2,node3,node4\nnode1,,24,48,48\nnode2,24,,24,24\nnode3,48,24,,48\nnode4,48,24,48,\n");
  EXPECT_THAT(record.table.nodes, ElementsAre("node1", "node2", "node3", "node4"));
  EXPECT_THAT(record.table.times, SizeIs(12));
  // And a table whose nodes are called like its columns is a table.
  EXPECT_THAT(
      read("node1,node2,busbw\nnode1,node2,48\nnode1,node3,48\nnode2,node3,48\nnode4,node1,48\n").table.nodes,
      SizeIs(4));
}

TEST(ImportedPairs, RailsFromOneAreTheFirstOnesAndNumbersAmongNamesAreNames) {
  std::string from_one = "from,to,rail,busbw\n";
  std::string mixed = "from,to,nic,busbw\n";
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      if (a == b) continue;
      for (const int rail : {1, 2}) from_one += fmt::format("n{},n{},{},48\n", a, b, rail);
      for (const char* nic : {"0", "mlx5_0"}) mixed += fmt::format("n{},n{},{},48\n", a, b, nic);
    }
  }
  EXPECT_EQ(read(from_one).table.rails, 2);
  EXPECT_THAT(read(from_one).source, HasSubstr("rail 0 is 1, rail 1 is 2"));
  EXPECT_EQ(read(mixed).table.rails, 2);
  EXPECT_THAT(read(mixed).table.times, SizeIs(24));
}

TEST(ImportedPairs, AMarkInFrontOfAnUtf8FileIsNoLetter) {
  EXPECT_THAT(blamed(read("\xEF\xBB\xBF" + slow_node(',', "node_a,node_b,busbw\n"))), ElementsAre("n2"));
}

TEST(ImportedPairs, OfMeansAndMediansTheMeanCounts) {
  EXPECT_THAT(
      read("a,b,median_GBps,mean_GBps,peak_GBps\nn0,n1,1,2,3\nn0,n2,1,2,3\nn0,n3,1,2,3\nn1,n2,1,2,3\n")
          .source,
      HasSubstr("column mean_GBps"));
}

TEST(ImportedPairs, WhatCannotBeReadIsRefusedWithItsLine) {
  // Half a number is none: a healthy fleet would be made of thousands, decimal commas and units.
  for (const char* cell : {"\"1,950\"", "48 GB/s", "48G", "4_8", "0x30"})
    EXPECT_THAT(refusal(fmt::format("a,b,busbw\nn0,n1,{}\n", cell)), HasSubstr("is no rate")) << cell;
  EXPECT_THAT(refusal("a;b;busbw\nn0;n1;1,95\n"),
              AllOf(HasSubstr("pairs.tsv:2"), HasSubstr("'1,95' is no rate: it has a comma, decimal or of")));
  EXPECT_THAT(refusal("a,b,busbw\nn0,n1,1,950\n"),
              AllOf(HasSubstr("4 cells, where the heading has 3"), HasSubstr("a decimal comma separates")));
  EXPECT_THAT(refusal("a b bus bw\nn0 n1 48.1\n"), HasSubstr("3 cells, where the heading has 4"));
  EXPECT_THAT(refusal(",n0,n1,n2\nn0,0,48,48\nn1,48,0\nn2,48,48,0\n"), HasSubstr("2 cells for 3 nodes"));

  EXPECT_THAT(refusal("a,b,busbw\nn0,n1,48\nn0,n2,fast\n"),
              AllOf(HasSubstr("pairs.tsv:3"), HasSubstr("'fast' is no rate")));
  EXPECT_THAT(refusal("a,b,busbw\nn0,n1,48\nn0\n"), AllOf(HasSubstr("pairs.tsv:3"), HasSubstr("1 cells")));
  EXPECT_THAT(refusal("a,b,busbw\nn0,n1,48\nn0,n2,48\n"), HasSubstr("3 nodes cannot be told apart"));
  EXPECT_THAT(refusal("a,b,seconds\nn0,n1,48\n"),
              AllOf(HasSubstr("no column has rates"), HasSubstr("a, b, seconds")));
  EXPECT_THAT(refusal("a,b,busbw\nn0,n1,48\nn2,n3,48\n"), HasSubstr("no chain of pairs joins n0 and n2"));
  EXPECT_THAT(refusal("some words\nof a log\n"),
              HasSubstr("neither a record of collbench burnin, nor a table"));
  EXPECT_THAT(refusal("a,b,busbw\n"), HasSubstr("the heading has no rows"));
  for (const char* const column : {"latency", "t_us", "time (ms)"})
    EXPECT_THAT(refusal(fmt::format("a,b,{}\nn0,n1,48\n", column), {.column = column, .where = {}}),
                HasSubstr("is a time, and rates are compared"));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal(",n0,n1,n2\nn0,0,1,1\nn5,1,0,1\nn1,1,0,1\nn2,1,1,0\n"),
              AllOf(HasSubstr("pairs.tsv:3"), HasSubstr("heads no column")));
}

}  // namespace
}  // namespace collbench::analysis
