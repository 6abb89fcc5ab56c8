#include "src/run/host_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace collbench::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using topology::DoctorSeverity;

TEST(HostFindings, TwoStandInTheHeaderAndTheRestIsCounted) {
  const std::vector<HostFinding> findings{
      {"memlock-limit", DoctorSeverity::broken, "\"Max locked memory 65536\"", {"n1", "n2"}},
      {"pcie-narrow", DoctorSeverity::slow, "GPU3: x8", {"n1", "n2", "n3", "n4", "n5"}},
      {"port-slow", DoctorSeverity::slow, "mlx5_1: 200 Gb/s", {"n3"}},
  };
  EXPECT_THAT(
      finding_notes(findings),
      ElementsAre("memlock-limit on n1, n2 (broken): \"Max locked memory 65536\"; see collbench doctor there",
                  "pcie-narrow on 5 hosts (slow): GPU3: x8; and 1 more; see collbench doctor there"));
  EXPECT_EQ(finding_candidates(findings),
            "Also seen (collbench doctor), whether or not it is the cause: memlock-limit on n1, n2, "
            "pcie-narrow on 5 "
            "hosts, port-slow on n3.");
  EXPECT_THAT(finding_notes({}), IsEmpty());
  EXPECT_EQ(finding_candidates({}), "");
}

TEST(HostFindings, WhatConcernsNcclIsSaidOnGpusOnly) {
  ::setenv("NCCL_P2P_DISABLE", "1", 1);  // NOLINT(concurrency-mt-unsafe): this test has one thread
  const auto codes = [](const std::vector<HostFinding>& findings) {
    std::vector<std::string> all;
    for (const HostFinding& each : findings) all.push_back(each.code);
    return all;
  };
  topology::Host host;
  host.gpus.resize(2);
  host.gpus[1].mig.value = true;
  EXPECT_THAT(codes(findings_here(host, "n1", true)), testing::IsSupersetOf({"setting-costly", "mig-on"}));
  EXPECT_THAT(codes(findings_here(host, "n1", false)), testing::Not(testing::Contains("setting-costly")));
  EXPECT_THAT(codes(findings_here(host, "n1", false)), testing::Not(testing::Contains("mig-on")));
  ::unsetenv("NCCL_P2P_DISABLE");  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace
}  // namespace collbench::program
