#include "analysis/report/diff_report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analysis/report/report.hpp"
#include "tests/topology/diff/mutations.hpp"

namespace collbench::analysis::odd_nodes_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

topology::Host healthy(const std::string& name) {
  topology::Host host = topology::healthy_machine(*topology::find_reference_machine("hgx-h100"));
  host.name.value = name;
  host.driver_version.value = "535.161.08";
  return host;
}

topology::Host slow_nic(const std::string& name) {
  topology::Host host = healthy(name);
  host.nics[2].ports[0].gigabits_per_second.value = 200;
  return host;
}

topology::Host other_driver(const std::string& name) {
  topology::Host host = healthy(name);
  host.driver_version.value = "550.54.15";
  return host;
}

DiffReport without_reference(const std::vector<topology::Host>& hosts) {
  topology::HostGroups groups;
  for (const topology::Host& host : hosts) groups.add(host, *host.name.value);
  return compare_groups(groups.take());
}

TEST(OddNodes, OfTwoKindsAsManyTheOneWithTheFaultIsListed) {
  for (const DiffReport& diff : {without_reference({slow_nic("n7"), healthy("n8")}),
                                 without_reference({healthy("n8"), slow_nic("n7")})}) {
    EXPECT_TRUE(diff.has_fault());
    EXPECT_EQ(report(diff, "slurm"), "n7\n");
    EXPECT_EQ(report(diff, "hostfile"), "n7\n");
    EXPECT_THAT(unlisted_nodes(diff), ElementsAre());
    EXPECT_THAT(
        report(diff, "text"),
        AllOf(HasSubstr("2 machines of 2 kinds, none of them the majority: 1 with a fault"),
              HasSubstr("\nOdd nodes (1 of 2)\n  n7: degraded nic-port-slower"), HasSubstr("Slurm: n7\n")));
    EXPECT_THAT(report(diff, "md"),
                AllOf(HasSubstr("- n7: degraded nic-port-slower"), Not(HasSubstr("- n8: "))));
    const auto json = nlohmann::json::parse(report(diff, "json"));
    EXPECT_EQ(json.at("odd_nodes_slurm"), "n7");
    EXPECT_EQ(json.at("odd_nodes").at(0).at("fault"), true);
  }
  EXPECT_EQ(
      report(without_reference({slow_nic("n1"), slow_nic("n2"), healthy("n3"), healthy("n4")}), "slurm"),
      "n[1-2]\n");
}

TEST(OddNodes, AFaultOfTheMajorityDrainsNobodyAndIsSaid) {
  const DiffReport diff = without_reference({slow_nic("n1"), slow_nic("n2"), slow_nic("n3"), healthy("n4")});
  EXPECT_TRUE(diff.has_fault());
  EXPECT_EQ(report(diff, "slurm"), "");
  EXPECT_EQ(report(diff, "hostfile"), "");
  EXPECT_THAT(unlisted_nodes(diff),
              ElementsAre(AllOf(HasSubstr("3 of 4 machines: degraded nic-port-slower"),
                                HasSubstr("which n4 does not have"), HasSubstr("REFERENCE"))));
  EXPECT_THAT(report(diff, "text"),
              AllOf(HasSubstr("\n  n4: no fault; the majority (3 of 4) has: degraded nic-port-slower"),
                    HasSubstr("Slurm: none")));
  const auto json = nlohmann::json::parse(report(diff, "json"));
  EXPECT_EQ(json.at("odd_nodes").at(0).at("host"), "n4");
  EXPECT_EQ(json.at("odd_nodes").at(0).at("fault"), false);
  EXPECT_EQ(json.at("odd_nodes_slurm"), "");
}

TEST(OddNodes, WhatOnlyDiffersIsOddAndNotDrained) {
  const DiffReport diff = without_reference({healthy("n1"), healthy("n2"), other_driver("n3")});
  EXPECT_FALSE(diff.has_fault());
  EXPECT_THAT(report(diff, "text"), HasSubstr("\n  n3: differs driver-version"));
  EXPECT_EQ(report(diff, "slurm"), "");
  EXPECT_THAT(unlisted_nodes(diff),
              ElementsAre(HasSubstr("n3: different without a degraded or broken finding")));
}

TEST(OddNodes, OfTwoMachinesTheOneWithTheFaultIsListed) {
  const auto group = [](const topology::Host& host) {
    return topology::HostGroup{host, {*host.name.value + ".json"}, {*host.name.value}};
  };
  EXPECT_EQ(report(compare_two(group(healthy("n8")), group(slow_nic("n7"))), "slurm"), "n7\n");
  EXPECT_EQ(report(compare_two(group(slow_nic("n7")), group(healthy("n8"))), "slurm"), "n7\n");
  EXPECT_EQ(report(compare_two(group(healthy("n7")), group(healthy("n8"))), "slurm"), "");
  EXPECT_EQ(report(compare_with(group(healthy("reference")), {group(slow_nic("n7"))}, true), "hostfile"),
            "n7\n");
}

TEST(SlurmNodeList, JoinsNumbersOfOneWidth) {
  EXPECT_EQ(slurm_node_list({}), "");
  EXPECT_EQ(slurm_node_list({"n1"}), "n1");
  EXPECT_EQ(slurm_node_list({"n10", "n9", "n8", "n11"}), "n[8-9],n[10-11]");
  EXPECT_EQ(slurm_node_list({"gpu-001", "login", "gpu-003", "gpu-002", "gpu-002"}), "gpu-[001-003],login");
  EXPECT_EQ(slurm_node_list({"n3.site", "n12345678901"}), "n12345678901,n3.site");
}

}  // namespace
}  // namespace collbench::analysis::odd_nodes_test
