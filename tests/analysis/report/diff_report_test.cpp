#include "analysis/report/diff_report.hpp"

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
  EXPECT_THAT(text, AllOf(HasSubstr("bad.json against good.json\n1 degraded\n"),
                          HasSubstr("degraded  nic-port-slower  bad.json"),
                          HasSubstr("mlx5_2 (0000:09:00.0): 200 Gb/s instead of 400"),
                          HasSubstr("cost: AllReduce on 2 nodes: ring"), HasSubstr("confirm: ibstat")));
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
              AllOf(HasSubstr("## bad.json against good.json"), HasSubstr("| degraded | nic-port-slower |")));
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

TEST(DiffReport, WithoutALossThereIsNoCost) {
  EXPECT_EQ(format_cost({}), "");
  EXPECT_EQ(format_cost({{1, {100, {}, 100}, {100, {}, 100}}}), "");
  EXPECT_EQ(format_cost({{1, {100, {}, 120}, {50, {}, 60}}}),
            "cost: AllReduce on 1 node: ring 100.0 → 50.0 GB/s (−50 %) and best 120.0 → 60.0 GB/s (−50 %)");
}

TEST(DiffReport, AnAlgorithmThatKeepsItsRateIsLeftOut) {
  EXPECT_EQ(format_cost({{1, {100, 90, 120}, {100, 89.99, 119.6}}}),
            "cost: AllReduce on 1 node: best 120.0 → 119.6 GB/s (−0.3 %)");
  EXPECT_EQ(format_cost({{1, {100, 90, 120}, {100, 89.99, 120}}}), "");
}

}  // namespace
}  // namespace collbench::analysis::diff_report_test
