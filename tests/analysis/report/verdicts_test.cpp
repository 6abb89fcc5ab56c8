#include "analysis/report/sections.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/report/criteria.hpp"
#include "analysis/report/report.hpp"
#include "analysis/verdict/verdict.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/analysis/verdict/judged_rows.hpp"

namespace collbench::analysis::verdicts_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(VerdictFacts, SayTheVerdictAndWhatHoldsEachRow) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  const ReportLines facts = verdict_lines(judged_on_gpus(run_from_expectation(cluster, 1), cluster));
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_THAT(facts[0].text, StartsWith("resources: NICs: "));
  EXPECT_THAT(facts[1].text, StartsWith("AllReduce float: SOUND: "));
  EXPECT_EQ(facts[1].tone, Tone::quiet);
  EXPECT_EQ(facts[2].text,
            "AllReduce float: 1 MiB to 4 MiB: latency-bound, 1.00 of expected; 16 MiB to 1 GiB: "
            "bandwidth-bound (8 NICs per node, 25 GB/s each at 95 % of line rate), 1.00 of expected");
}

TEST(VerdictFacts, ALossIsAWarningAndAFaultAnAlarm) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  const auto first = [&](double slower) {
    return verdict_lines(judged_on_gpus(run_from_expectation(cluster, slower), cluster)).front();
  };
  EXPECT_EQ(first(1.5).tone, Tone::warning);
  EXPECT_EQ(first(5).tone, Tone::alarm);
}

TEST(VerdictHeadline, IsTheWordWhatMadeItAndWhatItLeavesOpen) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  const auto first = [&](double slower, bool complete = true) {
    collbench::Run run = run_from_expectation(cluster, slower);
    run.complete = complete;
    for (Row& row : run.rows) row.measurement.algorithm_ran = "ring";
    return verdict_headline(judged_on_gpus(run, cluster)).front();
  };
  EXPECT_THAT(first(1).text,
              AllOf(StartsWith("SOUND: 2 × 8 ranks; worst: AllReduce, 1.00 of expected (SOUND from "),
                    HasSubstr("; not ruled out: the ")));
  EXPECT_EQ(first(1).tone, Tone::quiet);
  EXPECT_THAT(first(1, false).text, StartsWith("UNCLEAR: 2 × 8 ranks; the record is not complete; "));
  EXPECT_THAT(first(1.15).text, StartsWith("UNCLEAR: "));
  EXPECT_THAT(first(1.5).text, StartsWith("BELOW: 2 × 8 ranks; worst: AllReduce, 0.67 of expected"));
  EXPECT_THAT(first(1.5).text, testing::Not(HasSubstr("not ruled out")));
  EXPECT_EQ(first(5).tone, Tone::alarm);
  EXPECT_THAT(first(0.7).text, HasSubstr(": above what sound machines reach, 1.09; next: "));
  collbench::Run wrong = judged_on_gpus(run_from_expectation(cluster, 1), cluster);
  wrong.rows.back().measurement.wrong_elements = 1;
  EXPECT_THAT(verdict_headline(wrong).front().text, StartsWith("WRONG DATA in 1 row; UNCLEAR: "));
  for (Row& row : wrong.rows) row.measurement.wrong_elements = 1;
  EXPECT_THAT(verdict_headline(judged_on_gpus(wrong, cluster)).front().text,
              testing::MatchesRegex("WRONG DATA in [0-9]+ rows; next: do not use these nodes; .*"));
}

TEST(VerdictHeadline, SaysWhatItIsHeldAgainstWhereNobodyNamedIt) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  collbench::Run run = judged_on_gpus(run_from_expectation(cluster, 1), cluster);
  const auto first = [&run] { return verdict_headline(run).front().text; };
  run.yardstick = {YardstickKind::named, "ndv4", {}};
  EXPECT_THAT(first(), HasSubstr(": 2 × 8 ranks against ndv4; "));
  run.log.emplace();
  run.log->topology = {"node.json", 0};
  EXPECT_THAT(first(), HasSubstr(": 2 × 8 ranks on node.json; "));
  run.yardstick->kind = YardstickKind::detected;
  EXPECT_THAT(first(), HasSubstr(": 2 × 8 ranks on node.json against ndv4; "));
  run.yardstick = {YardstickKind::own, "", {}};
  EXPECT_THAT(
      first(),
      HasSubstr(
          " on node.json (no reference machine matches; a fault that every node shares would not show); "));
  run.yardstick = {YardstickKind::own, "ndv4", {"4 fast NICs instead of 8"}};
  EXPECT_THAT(first(), HasSubstr(" matches; nearest: ndv4, but 4 fast NICs instead of 8; a fault that"));
}

/// What stands behind "next: " in the first line; empty where nothing does.
std::string next_of(const collbench::Run& run) {
  const std::string text = verdict_headline(run).front().text;
  const std::size_t at = text.find("; next: ");
  return at == std::string::npos ? "" : text.substr(at + 8);
}

TEST(VerdictHeadline, EndsWithWhatToDoNext) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  const auto complete = [](collbench::Run run) {
    run.complete = true;
    return run;
  };
  const auto next = [&](double slower) {
    return next_of(judged_on_gpus(complete(run_from_expectation(cluster, slower)), cluster));
  };
  EXPECT_EQ(next_of(judged_on_gpus(run_from_expectation(cluster, 1), cluster)),
            "run it to its end (--resume goes on where a record stops)");
  EXPECT_EQ(next(1), "measure AllGather or SendRecv too: it tests each NIC");
  EXPECT_EQ(
      next(1.15),
      "compare with a known good node (collbench compare), or judge by your provider's limit (--min-busbw)");
  EXPECT_EQ(next(0.5), "check which machine and how many nodes were given");
  EXPECT_EQ(next(3),
            "collbench doctor on each node (what is costing bandwidth there); collbench -g N on each alone "
            "identifies the node");
  // Fewer than four nodes burnin cannot tell apart.
  const GpuCluster four = cluster_of("hgx-h100", 4);
  EXPECT_EQ(next_of(judged_on_gpus(complete(run_from_expectation(four, 3)), four)),
            "collbench doctor on each node (what is costing bandwidth there); collbench burnin identifies "
            "the node");
  collbench::Run log = run_from_expectation(cluster, 1);
  log.log.emplace();
  EXPECT_EQ(next_of(judged_on_gpus(log, cluster)), "run it to its end, or give the whole log");
  log = complete(run_from_expectation(cluster, 50));
  log.log.emplace();
  EXPECT_EQ(next_of(judged_on_gpus(log, cluster)),
            "run again with NCCL_DEBUG=INFO, and see whether it is \"Using network Socket\"");
  const GpuCluster node = cluster_of("hgx-h100", 1);
  EXPECT_THAT(next_of(judged_on_gpus(complete(run_from_expectation(node, 1.1)), node)),
              StartsWith("compare with a known good node (collbench compare)"));
  EXPECT_EQ(next_of(judged_on_gpus(run_from_expectation(node, 3), node)),
            "collbench doctor on this machine (what is costing bandwidth there)");
  EXPECT_EQ(next_of(judged_on_gpus(complete(run_from_expectation(node, 1)), node)), "");
  collbench::Run small = complete(run_from_expectation(cluster, 1));
  std::erase_if(small.rows, [](const Row& row) { return row.measurement.key.size_bytes > 16 * kMiB; });
  EXPECT_EQ(next_of(judged_on_gpus(small, cluster)), "measure 1 GiB and more");
}

TEST(VerdictFacts, ResourcesAreNamedWithTheOperationThatTestsThemBest) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  run.complete = true;
  const auto first = [](const collbench::Run& each) { return verdict_headline(each).front().text; };
  EXPECT_THAT(first(judged_on_gpus(run, cluster)),
              AllOf(HasSubstr("; not ruled out: the 8 NICs at 62 % of"), testing::Not(HasSubstr("tested"))));
  for (const Row& row : run_from_expectation(cluster, 1, OperationId::all_gather).rows)
    run.rows.push_back(row);
  const collbench::Run judged = judged_on_gpus(run, cluster);
  EXPECT_EQ(
      verdict_lines(judged).front().text,
      "resources: NICs: a loss of 1 of 8 is ruled out by AllGather, 1.00 of expected; PCIe links of the "
      "NICs: a loss of half of their rate is ruled out by AllReduce, 1.00 of expected; NVLinks: a loss "
      "of 2 of 18 is ruled out by AllReduce, 1.00 of expected");
  collbench::Run open = judged;
  for (Row& row : open.rows) row.verdict.hidden = {{"PCIe link of a NIC", 0.5, "the PCIe link at 50 %"}};
  EXPECT_THAT(first(open), testing::EndsWith("; not tested: PCIe links of the NICs"));
  EXPECT_EQ(verdict_lines(open).front().text,
            "resources: PCIe links of the NICs: not tested by these operations");
}

/// Two nodes of 8 GPUs that measured 1 GiB alone, each so many times slower than expected.
collbench::Run with_nodes_alone(const GpuCluster& cluster, double whole_slower, double first_slower,
                                double second_slower, std::size_t passes = 3) {
  collbench::Run run = run_from_expectation(cluster, whole_slower);
  run.complete = true;
  const GpuCluster node = cluster_of("hgx-h100", 1);
  for (const double slower : {first_slower, second_slower}) {
    const collbench::Run alone = run_from_expectation(node, slower);
    const auto row = std::find_if(alone.rows.begin(), alone.rows.end(),
                                  [](const Row& each) { return each.measurement.key.size_bytes == kGiB; });
    run.node_groups.push_back({{run.node_groups.empty() ? "node1" : "node2"}, 8, *row});
    Measurement& measured = run.node_groups.back().row.measurement;
    measured.pass_seconds.assign(passes, measured.seconds);
  }
  return judged_on_gpus(run, cluster);
}

TEST(NodesAlone, WhoIsSlowByItselfIsNamedInTheFirstLine) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  const collbench::Run run = with_nodes_alone(cluster, 1, 1, 1.5);
  EXPECT_EQ(machine_word(run), VerdictWord::below) << "the whole is SOUND, and a node of it is not";
  EXPECT_THAT(verdict_headline(run).front().text,
              AllOf(StartsWith("BELOW: 2 × 8 ranks; node2 is slow by itself: AllReduce 1 GiB: "),
                    HasSubstr("GB/s, 0.67 of expected; of all ranks, worst: AllReduce, 1.00")));
  EXPECT_EQ(next_of(run), "collbench doctor on node2; its report and this one are what the provider needs");
  const ReportLines lines = verdict_lines(run);
  const auto line = [&](std::string_view start) {
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [&](const ReportLine& each) { return each.text.starts_with(start); });
    return found == lines.end() ? ReportLine{"none", Tone::quiet} : *found;
  };
  EXPECT_THAT(line("node2 alone: BELOW: AllReduce 1 GiB: ").text, HasSubstr("SOUND from "));
  EXPECT_EQ(line("node2 alone: ").tone, Tone::warning);
  EXPECT_THAT(line("1 of 2 nodes SOUND alone: AllReduce 1 GiB: ").text,
              testing::EndsWith(" 1.00 of expected"));
  const RunCheck check = check_run(run, {});
  EXPECT_THAT(check.failures.back().text, StartsWith("node2 alone: BELOW: "));
}

TEST(NodesAlone, BetweenSoundNodesTheLossIsTheNetworks) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  constexpr const char* kNetwork = "each node alone is SOUND: the loss shows between nodes only";
  const auto first = [](const collbench::Run& run) { return verdict_headline(run).front().text; };
  EXPECT_THAT(first(with_nodes_alone(cluster, 3, 1, 1)), AllOf(StartsWith("FAULT: "), HasSubstr(kNetwork)));
  EXPECT_THAT(first(with_nodes_alone(cluster, 1, 1, 1)),
              AllOf(StartsWith("SOUND: "), testing::Not(HasSubstr(kNetwork))));
  collbench::Run unknown = with_nodes_alone(cluster, 3, 1, 1);
  unknown.node_groups[1].row.verdict = {};
  EXPECT_THAT(first(unknown), testing::Not(HasSubstr(kNetwork))) << "nobody knows of one of them";
  unknown.node_groups.pop_back();
  EXPECT_THAT(first(unknown), testing::Not(HasSubstr(kNetwork))) << "one of two was measured";
}

TEST(NodesAlone, NVLinksAreRuledOutByTheNodeThatLeavesMostOpen) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  collbench::Run run = with_nodes_alone(cluster, 1, 1, 1);
  run.rows.resize(1);  // nothing large between the nodes
  run = judged_on_gpus(run, cluster);
  EXPECT_THAT(verdict_lines(run).front().text,
              HasSubstr("NVLinks: a loss of 1 of 18 is ruled out by AllReduce on each node alone, 1.00"));
  run.node_groups[0].row.verdict.word = VerdictWord::unclear;
  EXPECT_TRUE(resource_tests(run).empty()) << "a node of which this is not known";
}

TEST(NodesAlone, SoundOnesDoNotMakeTheWholeSound) {
  collbench::Run run = with_nodes_alone(cluster_of("hgx-h100", 2), 1, 1, 1);
  run.rows.clear();
  EXPECT_EQ(machine_word(run), VerdictWord::none) << "nothing between the nodes was measured";
  run.node_groups[0].row.verdict.word = VerdictWord::below;
  EXPECT_EQ(machine_word(run), VerdictWord::below);
}

TEST(NodesAlone, NobodyIsAccusedOfOneOrTwoPasses) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  EXPECT_EQ(machine_word(with_nodes_alone(cluster, 1, 1, 1.5, 3)), VerdictWord::below);
  const collbench::Run hurried = with_nodes_alone(cluster, 1, 1, 1.5, 1);
  EXPECT_EQ(machine_word(hurried), VerdictWord::unclear);
  EXPECT_THAT(hurried.node_groups[1].row.verdict.explanation,
              StartsWith("slow in 1 pass, too few to accuse"));
}

TEST(NodesAlone, OfAnotherOperationThanTheNodesMeasuredNothingIsSaid) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  collbench::Run run = with_nodes_alone(cluster, 1, 1, 1);
  for (const Row& row : run_from_expectation(cluster, 3, OperationId::all_to_all).rows)
    run.rows.push_back(row);
  run = judged_on_gpus(run, cluster);
  ASSERT_TRUE(is_bad(machine_word(run)));
  EXPECT_THAT(verdict_headline(run).front().text, testing::Not(HasSubstr("each node alone")));
}

/// Two sound nodes whose largest row became so many times slower when it was sustained.
collbench::Run with_sustained(double slower) {
  const GpuCluster cluster = cluster_of("hgx-h100", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  run.complete = true;
  run.backend = BackendId::nccl;
  run.sustained = run.rows.back();
  run.sustained->measurement.seconds *= slower;
  run.sustained->measurement.pass_seconds.assign(9, run.sustained->measurement.seconds);
  return judged_on_gpus(run, cluster);
}

TEST(Sustained, ARowThatFallsUnderLoadIsTheMachines) {
  EXPECT_EQ(machine_word(with_sustained(1)), VerdictWord::sound);
  const collbench::Run run = with_sustained(3);
  EXPECT_TRUE(is_bad(machine_word(run)));
  EXPECT_THAT(verdict_headline(run).front().text,
              AllOf(StartsWith("FAULT: "), HasSubstr("; sustained in 9 passes: AllReduce "),
                    HasSubstr(" of expected; 0.33 of its row above")));
  EXPECT_THAT(
      check_run(run, {}).failures.back().text,
      AllOf(StartsWith("sustained AllReduce "), HasSubstr("it was SOUND before it was repeated: look at")));
  EXPECT_THAT(report(run, "ticket"), HasSubstr("measured when sustained: AllReduce"));
  collbench::Run wrong = with_sustained(1);
  wrong.sustained->measurement.wrong_elements = 3;
  EXPECT_TRUE(has_wrong_data(wrong));
  EXPECT_THAT(check_run(wrong, {}).failures.front().text, StartsWith("sustained: WRONG DATA"));
  EXPECT_THAT(verdict_headline(wrong).front().text, StartsWith("WRONG DATA while it was sustained"));
}

TEST(NodesAlone, OneThatIsUnclearIsNamed) {
  const collbench::Run run = with_nodes_alone(cluster_of("hgx-h100", 2), 1, 1.12, 1);
  EXPECT_THAT(verdict_headline(run).front().text,
              StartsWith("UNCLEAR: 2 × 8 ranks; node1 is UNCLEAR by itself: AllReduce 1 GiB: "));
}

TEST(NodesAlone, WrongDataOnOneIsWrongDataOfTheRun) {
  collbench::Run run = with_nodes_alone(cluster_of("hgx-h100", 2), 1, 1, 1);
  run.node_groups[1].row.measurement.wrong_elements = 3;
  run.node_groups[1].row.measurement.wrong = {{9, "node2", 3, 0, "1", "2"}};
  EXPECT_TRUE(has_wrong_data(run));
  EXPECT_NE(machine_word(run), VerdictWord::sound);
  EXPECT_THAT(verdict_headline(run).front().text, StartsWith("WRONG DATA on node2 alone; "));
  EXPECT_TRUE(check_run(run, {}).failures.front().is_wrong_data);
  EXPECT_THAT(check_run(run, {}).failures.front().text, StartsWith("node2 alone: WRONG DATA"));
}

/// Nodes in a ring, sound by themselves, whose pairs (the first with the second, and so on) measured an
/// AllGather of 1 GiB so many times slower than expected, the whole an AllReduce and an AllGather
/// `whole_slower`.
collbench::Run with_pairs(const std::vector<double>& slower, double whole_slower,
                          const std::string& machine = "hgx-h100") {
  const GpuCluster cluster = cluster_of(machine, static_cast<int>(slower.size()));
  collbench::Run run = run_from_expectation(cluster, whole_slower);
  for (const Row& row : run_from_expectation(cluster, whole_slower, OperationId::all_gather).rows)
    run.rows.push_back(row);
  run.complete = true;
  const auto measured = [&](int nodes, double times, OperationId operation) {
    const collbench::Run part = run_from_expectation(cluster_of(machine, nodes), times, operation);
    Row row = *std::find_if(part.rows.begin(), part.rows.end(),
                            [](const Row& each) { return each.measurement.key.size_bytes == kGiB; });
    row.measurement.pass_seconds.assign(3, row.measurement.seconds);
    return row;
  };
  const auto host = [&](std::size_t i) { return fmt::format("n{}", i % slower.size()); };
  for (std::size_t i = 0; i < slower.size(); ++i)
    run.node_groups.push_back({{host(i)}, 8, measured(1, 1, OperationId::all_reduce)});
  for (std::size_t i = 0; i < slower.size(); ++i)
    run.node_groups.push_back({{host(i), host(i + 1)}, 16, measured(2, slower[i], OperationId::all_gather)});
  return judged_on_gpus(run, cluster);
}

std::vector<std::string> slow_hosts(const std::vector<double>& slower) {
  return pairs_seen(with_pairs(slower, 2.5)).slow_hosts;
}

TEST(NodePairs, WhoIsSlowWithBothNeighborsIsNamed) {
  const collbench::Run run = with_pairs({1, 2.5, 2.5, 1}, 2.5);
  EXPECT_THAT(verdict_headline(run).front().text,
              AllOf(HasSubstr(": 4 × 8 ranks; n2 is slow with each neighbor: n1 with n2: AllGather 1 GiB: "),
                    HasSubstr("; next: collbench doctor on n2; ")));
  EXPECT_THAT(slow_hosts({2.5, 1, 2.5}), testing::ElementsAre("n0"));
  EXPECT_THAT(slow_hosts({1, 2.5, 2.5, 2.5, 1}), testing::ElementsAre("n2", "n3")) << "both, or a link";
}

TEST(NodePairs, ANodeBetweenTwoSlowOnesIsNotAccused) {
  // n1 and n4 of a ring of five are slow, and n0 meets nobody else.
  EXPECT_THAT(slow_hosts({2.5, 2.5, 1, 2.5, 2.5}), testing::ElementsAre("n1", "n4"));
}

TEST(NodePairs, OneSlowPairAccusesNoNode) {
  const collbench::Run run = with_pairs({1, 2.5, 1, 1}, 2.5);
  EXPECT_TRUE(pairs_seen(run).slow_hosts.empty());
  EXPECT_THAT(verdict_headline(run).front().text, AllOf(HasSubstr("; slow: n1 with n2: AllGather 1 GiB: "),
                                                        HasSubstr("; next: collbench burnin")));
}

TEST(NodePairs, WhereAllAreSlowNobodyIsNamed) {
  const collbench::Run run = with_pairs({2.5, 2.5, 2.5}, 2.5);
  EXPECT_TRUE(pairs_seen(run).slow_hosts.empty());
  EXPECT_THAT(verdict_headline(run).front().text, HasSubstr("; every pair of neighboring nodes is slow: "));
}

TEST(NodePairs, WhereAllAreSoundTheLossIsOfMoreNodes) {
  EXPECT_THAT(
      verdict_headline(with_pairs({1, 1, 1, 1}, 2.5)).front().text,
      HasSubstr("each node alone and each pair of neighbors is SOUND: the loss shows between more nodes"));
  const ReportLines lines = verdict_lines(with_pairs({1, 1, 1, 1}, 1));
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const ReportLine& line) {
    return line.text.starts_with("4 of 4 pairs of neighbors SOUND: AllGather 1 GiB: ");
  }));
}

TEST(NodePairs, TheyMakeNoMachineBelowWhoseRowsAreSound) {
  const collbench::Run run = with_pairs({2.5, 1, 2.5}, 1);
  EXPECT_EQ(machine_word(run), VerdictWord::sound) << "pairs share the network";
  EXPECT_TRUE(check_run(run, {}).failures.empty());
  EXPECT_THAT(verdict_headline(run).front().text, testing::Not(HasSubstr("slow")));
  const ReportLines lines = verdict_lines(run);
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const ReportLine& line) {
    return line.text.starts_with("n0 with n1: FAULT: ") || line.text.starts_with("n0 with n1: BELOW: ");
  })) << "and are shown";
}

TEST(NodePairs, InARackWhoseNvLinksJoinNodesTheyHaveNoVerdict) {
  const collbench::Run run = with_pairs({1, 1, 1}, 1, "gb200-nvl72");
  EXPECT_EQ(run.node_groups.back().row.verdict.word, VerdictWord::none);
}

TEST(VerdictFacts, ARowWithoutAFormulaSaysSo) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  collbench::Run run = run_from_expectation(cluster, 1);
  for (Row& row : run.rows) row.measurement.key.operation = OperationId::hypercube;
  const ReportLines facts = verdict_lines(judged_on_gpus(run, cluster));
  EXPECT_THAT(facts.front().text,
              AllOf(HasSubstr("no verdict"), HasSubstr("there is no formula for HyperCube")));
}

TEST(VerdictFacts, WithoutAVerdictTheReasonIsSaid) {
  collbench::Run run = run_from_expectation(cluster_of("ndv4", 2), 1);
  EXPECT_TRUE(verdict_lines(run).empty());
  EXPECT_TRUE(verdict_headline(run).empty());
  run.log.emplace();
  EXPECT_EQ(
      verdict_headline(run).front().text,
      "no verdict: the machine is unknown; the log does not name its GPUs: give the machine with --topology "
      "(collbench topo list names the reference machines); the number of nodes goes with --nodes.");
  run.complete = true;
  run.yardstick = Yardstick{YardstickKind::unknown, "", {}};
  EXPECT_THAT(verdict_headline(run).front().text,
              StartsWith("UNCLEAR: the machine is unknown; the log does not"));
  EXPECT_EQ(machine_word(run), VerdictWord::unclear);
  collbench::Run fallen = run;
  for (Row& row : fallen.rows)
    if (row.measurement.key.size_bytes == 1U << 28U) row.measurement.seconds *= 20;
  EXPECT_THAT(
      verdict_headline(fallen).front().text,
      testing::MatchesRegex("UNCLEAR: AllReduce: .* GB/s at 256 MiB, .* times less than at .*, whatever the "
                            "machine; the machine is unknown; .*"));
  collbench::Run slowed = run;
  slowed.environment = {{"NCCL_P2P_DISABLE", "1"}};
  slowed.log->network = {"Socket", 12};
  slowed.log->nvlink_least_bytes_per_second = {20e9, 89};
  slowed.log->nvlink_most_bytes_per_second = {240e9, 92};
  EXPECT_THAT(
      verdict_headline(slowed).front().text,
      StartsWith(
          "UNCLEAR: the log shows NCCL_P2P_DISABLE=1, and TCP sockets between nodes (line 12), and NVLink "
          "of 20.0 GB/s between two GPUs (line 89), of 240 GB/s elsewhere; the machine is unknown; "));
  run.complete = false;
  EXPECT_THAT(verdict_headline(run).front().text,
              StartsWith("UNCLEAR: the log is cut; the machine is unknown; "));
  run.yardstick.reset();
  run.log->gpu = {"AMD Instinct MI300X", 5};
  EXPECT_EQ(verdict_headline(run).front().text,
            "no verdict: AMD Instinct MI300X is AMD's, and only NCCL on NVIDIA's GPUs is modeled");
  run.log.reset();
  run.backend = BackendId::mpi;
  EXPECT_EQ(verdict_lines(run).front().text, "no verdict on host memory; meas/exp is informational");
  run.buffers.allocator = "cudaMalloc";
  EXPECT_EQ(verdict_lines(run).front().text, "no verdict: MPI's collectives on GPUs are not modeled");
  run.simulated = true;
  EXPECT_EQ(verdict_lines(run).front().text, "no verdict: simulated time");
  run.simulated = false;
  run.gpus_simulated = true;
  EXPECT_EQ(verdict_lines(run).front().text, "no verdict: simulated GPUs");
  run.rows.front().measurement.wrong_elements = 3;
  EXPECT_THAT(verdict_headline(run).front().text, testing::StartsWith("SIMULATED GPUs: WRONG DATA"));
}

}  // namespace
}  // namespace collbench::analysis::verdicts_test
