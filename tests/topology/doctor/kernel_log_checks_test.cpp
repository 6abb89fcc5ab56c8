// What the texts of log_check_cases.hpp do not show of kernel_log_checks() of checks.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/topology/doctor/log_check_cases.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology::kernel_log_checks_test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

Evidence evidence_of(const std::vector<Text>& texts) {
  Evidence evidence;
  for (const Text& each : texts) add_evidence(evidence, each.text, "FILE", each.source);
  return evidence;
}

std::vector<std::string> found_codes(const Diagnosis& diagnosis) {
  std::vector<std::string> codes;
  for (const DoctorFinding& finding : diagnosis.findings) codes.emplace_back(finding.check.code);
  return codes;
}

TEST(KernelLogChecks, ALinkThatIsSlowerThanItsPortIsLimitedThoughItHasAllLanes) {
  const std::string sysfs_like = ibstat_card("mlx5_10", "28.36.1010", "Active", "400");
  Evidence evidence = evidence_of({{"", sysfs_like}, {"", pcie_bandwidth("16")}});
  EXPECT_THAT(found_codes(diagnose(evidence)), IsEmpty()) << "ibstat has no addresses";
  evidence.host.nics.front().pci_address.value = "0000:5e:00.0";
  EXPECT_THAT(found_codes(diagnose(evidence)), UnorderedElementsAre("pcie-limited"));
}

TEST(KernelLogChecks, WhatIsNoGpuAndNoNicIsNotLimited) {
  EXPECT_THAT(
      found_codes(diagnose(evidence_of(
          {{"",
            "pci 0000:0a:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at "
            "0000:00:1c.0 (capable of 7.876 Gb/s with 8.0 GT/s PCIe x2 link)\n"}}))),
      IsEmpty());
}

}  // namespace
}  // namespace collbench::topology::kernel_log_checks_test
