#include "analysis/report/diff_report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analysis/report/report.hpp"
#include "tests/topology/diff/mutations.hpp"

namespace collbench::analysis::diff_report_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

topology::Host healthy() { return topology::healthy_machine(*topology::find_reference_machine("hgx-h100")); }

topology::Host slow_nic() {
  topology::Host host = healthy();
  host.nics[2].ports[0].gigabits_per_second.value = 200;
  return host;
}

DiffReport two_hosts(topology::Host b) {
  return {{compare_hosts({healthy(), {"good.json"}}, {std::move(b), {"bad.json"}}, false)}};
}

TEST(DiffReport, TextSaysWhatHowBadAndWhatItCosts) {
  const std::string text = report(two_hosts(slow_nic()), "text");
  EXPECT_THAT(text, AllOf(HasSubstr("bad.json against good.json: 1 degraded\n"),
                          HasSubstr("degraded  nic-port-slower  bad.json"),
                          HasSubstr("mlx5_2 (0000:09:00.0): 200 Gb/s instead of 400"),
                          HasSubstr("cost: AllReduce on 2 nodes: nvls_tree"), HasSubstr("confirm: ibstat")));
  EXPECT_THAT(text, Not(HasSubstr("tree 308.8")));
  EXPECT_THAT(report(two_hosts(slow_nic()), "text", {.verbose = true}), HasSubstr("tree 308.8"));
}

TEST(DiffReport, JsonHoldsAllOfIt) {
  const auto json = nlohmann::json::parse(report(two_hosts(slow_nic()), "json"));
  const auto& finding = json.at("pairs").at(0).at("findings").at(0);
  EXPECT_EQ(json.at("fault"), true);
  EXPECT_EQ(finding.at("code"), "nic-port-slower");
  EXPECT_EQ(finding.at("severity"), "degraded");
  EXPECT_EQ(finding.at("host"), "bad.json");
  EXPECT_EQ(finding.at("costs").at(1).at("nodes"), 2);
  EXPECT_GT(finding.at("costs").at(1).at("ring").at("lost_gb_per_s"), 0);
  EXPECT_EQ(finding.at("costs").at(0).at("ring").at("lost_percent"), 0);
}

TEST(DiffReport, MarkdownIsATable) {
  EXPECT_THAT(report(two_hosts(slow_nic()), "md"),
              AllOf(HasSubstr("\n**bad.json against good.json: 1 degraded**\n"),
                    HasSubstr("| **degraded** | nic-port-slower |")));
  EXPECT_THAT(report(two_hosts(healthy()), "md"), AllOf(HasSubstr("no difference"), Not(HasSubstr("|"))));
}

TEST(DiffReport, OddMachinesAreComparedWithTheMajority) {
  topology::HostGroups groups;
  groups.add(slow_nic(), "n0");
  for (int i = 1; i < 9; ++i) groups.add(healthy(), "n" + std::to_string(i));
  const DiffReport diff = compare_groups(groups.take());
  EXPECT_TRUE(diff.has_fault());
  EXPECT_THAT(report(diff, "text"), AllOf(HasSubstr("9 machines: 8 identical, 1 different"),
                                          HasSubstr("n0 against n1, n2, n3, n4, n5, n6 and 2 more")));
}

/// 60 nodes, of which three are broken in three ways; 20 more have a slow NIC.
DiffReport fleet(bool against_a_reference, int slow) {
  topology::HostGroups groups;
  for (int i = 0; i < 60; ++i) {
    topology::Host host = i >= 60 - slow ? slow_nic() : healthy();
    if (i == 3) host = topology::without_devices(host, {{topology::DeviceKind::gpu, 2}});
    if (i == 17) host.gpus[5].nvlinks_active.value = 14;
    if (i == 39) host.nics[1].ports[0].state.value = "DOWN";
    host.name.value = fmt::format("n{:02}", i);
    groups.add(host, *host.name.value);
  }
  return against_a_reference ? compare_with({healthy(), {"good"}}, groups.take(), true)
                             : compare_groups(groups.take());
}

TEST(DiffReport, EveryOddNodeOfAFleetIsListedByHostInEveryFormat) {
  for (const bool reference : {false, true}) {
    const DiffReport diff = fleet(reference, 20);
    EXPECT_TRUE(diff.has_fault());
    EXPECT_EQ(odd_nodes(diff).size(), 23U);
    for (const char* format : {"text", "md", "json", "hostfile"}) {
      const std::string text = report(diff, format);
      for (const OddNode& node : odd_nodes(diff)) EXPECT_THAT(text, HasSubstr(node.host)) << format;
      for (const char* node : {"n03", "n17", "n39", "n40", "n49", "n59"})
        EXPECT_THAT(text, HasSubstr(node)) << format;
    }
    EXPECT_EQ(report(diff, "slurm"), "n[03,17,39-59]\n");
    EXPECT_THAT(report(diff, "hostfile"), testing::StartsWith("n03\nn17\nn39\nn40\n"));
    EXPECT_THAT(report(diff, "text"),
                AllOf(HasSubstr("\nOdd nodes (23 of 60)\n"), HasSubstr("\n  n03: broken gpu-missing"),
                      HasSubstr("Slurm: n[03,17,39-59]")));
  }
}

TEST(DiffReport, FilesOfAFleetThatCannotBeReadStandFirstInEveryFormatAndDoNotPass) {
  topology::HostGroups groups;
  for (int i = 0; i < 6; ++i) groups.add(healthy(), fmt::format("n{}", i));
  DiffReport diff = compare_groups(groups.take());
  EXPECT_TRUE(diff.passes());
  diff.left_out = {"left out: n2/<x>.txt: the file is empty"};
  for (const char* format : {"text", "md", "html", "json"})
    EXPECT_THAT(report(diff, format), HasSubstr("left out: n2/")) << format;
  EXPECT_TRUE(diff.passes());
  diff.files = {
      8,
      6,
      {{"f/n6.json", "f/n6.json:3", "the file is <cut>"}, {"f/n7.json", "f/n7.json", "the file is empty"}}};
  EXPECT_FALSE(diff.passes());
  EXPECT_THAT(
      report(diff, "text"),
      testing::StartsWith(
          "8 files, 2 of which cannot be used: f/n6.json:3: the file is <cut>; f/n7.json: the file is "
          "empty\n"
          "the other 6 machines are identical\n"));
  for (const char* format : {"md", "html"})
    EXPECT_THAT(report(diff, format),
                AllOf(HasSubstr("8 files, 2 of which cannot be used: f/n6.json:3"), HasSubstr("f/n7.json"),
                      HasSubstr("the other 6 machines are identical"), Not(HasSubstr("<cut>"))))
        << format;
  const auto json = nlohmann::json::parse(report(diff, "json"));
  ASSERT_EQ(json.at("unreadable").size(), 2U);
  EXPECT_EQ(json.at("unreadable").at(0).at("file"), "f/n6.json");
  EXPECT_EQ(json.at("unreadable").at(0).at("where"), "f/n6.json:3");
  EXPECT_EQ(json.at("unreadable").at(1).at("why"), "the file is empty");
}

TEST(DiffReport, AFleetWithoutAFaultSaysSo) {
  topology::HostGroups groups;
  for (int i = 0; i < 4; ++i) groups.add(healthy(), fmt::format("n{}", i));
  const DiffReport diff = compare_with({healthy(), {"good"}}, groups.take(), true);
  EXPECT_THAT(report(diff, "text"), testing::StartsWith("4 machines, none with a fault\n"));
  EXPECT_EQ(report(diff, "hostfile"), "");
  EXPECT_EQ(report(diff, "slurm"), "");
}

TEST(DiffReport, ADifferentMachineIsNoFaultAndDoesNotPass) {
  const auto machine = [](std::string_view name) {
    return topology::reference_host(*topology::find_reference_machine(name));
  };
  const topology::HostGroup expected{machine("hgx-h100"), {"hgx-h100"}};
  const std::vector<topology::HostGroup> groups{
      {machine("hgx-h100"), {"n0", "n1"}}, {machine("dgx-1v"), {"n2"}}, {machine("p5"), {"n3"}}};
  const DiffReport one = compare_with(expected, {groups[1]}, true);
  EXPECT_FALSE(one.has_fault());
  EXPECT_FALSE(one.passes());
  EXPECT_TRUE(compare_with(expected, {groups[0]}, true).passes());
  EXPECT_THAT(report(one, "text"), HasSubstr("n2 against hgx-h100: a different machine, 1 difference\n"));
  EXPECT_THAT(report(one, "md"), HasSubstr("a different machine, 1 difference"));
  const auto json = nlohmann::json::parse(report(one, "json"));
  EXPECT_FALSE(json.at("fault"));
  EXPECT_TRUE(json.at("different_machine"));

  const DiffReport fleet = compare_with(expected, groups, true);
  EXPECT_EQ(diff_headline(fleet), "4 machines: 2 without a fault, 0 with, 2 of another kind");
  EXPECT_THAT(report(fleet, "text"), HasSubstr("n3"));
  EXPECT_EQ(report(fleet, "slurm"), "");  // nothing is broken there
}

TEST(DiffReport, AReferenceThatNothingHasConfirmedSaysSo) {
  const topology::Host host = topology::reference_host(*topology::find_reference_machine("p5"));
  const DiffReport against_p5 = compare_with({host, {"p5"}}, {{host, {"node.json"}}}, true);
  EXPECT_THAT(report(against_p5, "text"),
              HasSubstr("node.json against p5 (not checked against a published file of such a machine): "));
  EXPECT_THAT(report(against_p5, "md"),
              HasSubstr("(not checked against a published file of such a machine)"));
  const DiffReport against_h100 = compare_with({healthy(), {"hgx-h100"}}, {{healthy(), {"node.json"}}}, true);
  EXPECT_THAT(report(against_h100, "text"), Not(HasSubstr("checked against")));
}

TEST(DiffReport, MachinesWithOtherBusNumbersAreAlike) {
  topology::Host moved = healthy();
  std::string& address = *moved.nics[0].pci_address.value;
  for (topology::PciDevice& pci : moved.pci_devices) {
    if (pci.address == address) pci.address = "0000:f1:00.0";
  }
  address = "0000:f1:00.0";
  topology::HostGroups groups;
  groups.add(healthy(), "n0");
  groups.add(moved, "n1");
  const DiffReport diff = compare_groups(groups.take());
  EXPECT_FALSE(diff.has_fault());
  EXPECT_EQ(report(diff, "text"), "2 machines, all identical\n");
}

}  // namespace
}  // namespace collbench::analysis::diff_report_test
