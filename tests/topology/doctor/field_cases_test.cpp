// Threads in which people found the cause of a slow or broken job, by the lines that they quote there and no
// others (docs/doctor.md lists them, and those whose evidence no file holds).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "topology/doctor/checks.hpp"

namespace collbench::topology {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> codes_of(const std::string& text) {
  Evidence evidence;
  add_evidence(evidence, text, "thread", "");
  std::vector<std::string> codes;
  for (const DoctorFinding& finding : diagnose(evidence).findings) codes.emplace_back(finding.check.code);
  return codes;
}

TEST(FieldCase, Nccl304AcsOnSwitches) {
  EXPECT_THAT(
      codes_of("ACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n"),
      UnorderedElementsAre("acs-on"));
  EXPECT_THAT(
      codes_of("ACSCtl:\tSrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-\n"),
      IsEmpty());
}

TEST(FieldCase, Nccl897OneNodeWithoutPeerMemory) {
  EXPECT_THAT(codes_of("9[1a000] -> 2[6b000] [send] via NET/IB/0/GDRDMA\n"
                       "9[1a000] -> 2[6b000] [receive] via NET/IB/1\n"),
              UnorderedElementsAre("log-no-gpudirect"));
}

TEST(FieldCase, CiInfra541FabricManagerNotRunning) {
  EXPECT_THAT(codes_of("Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152:\n"
                       "CUDA error 401 'the operation cannot be performed in the present state'.\n"),
              UnorderedElementsAre("log-nvls-failed"));
}

TEST(FieldCase, NcclTests27BuiltWithoutMpi) {
  EXPECT_THAT(codes_of("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 3.94145 \n#\n"
                       "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 3.94156 \n"),
              UnorderedElementsAre("log-separate-runs"));
  EXPECT_THAT(codes_of("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 3.95192\n"), IsEmpty());
}

TEST(FieldCase, NcclTests213BuiltWithoutMpi) {
  const std::string heading =
      "# nThread 1 nGpus 8 minBytes 1073741824 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 "
      "agg "
      "iters: 1 validation: 1 graph: 0\n#\n# Using devices\n";
  EXPECT_THAT(codes_of(heading + heading +
                       "#  Rank  0 Group  0 Pid    798 on       hw14 device  0 [0x0f] NVIDIA H800\n"),
              UnorderedElementsAre("log-separate-runs"));
}

TEST(FieldCase, Nccl1298AVirtualMachineHidesItsSwitches) {
  std::string matrix = "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tCPU Affinity\tNUMA Affinity\n";
  for (int from = 0; from < 8; ++from) {
    matrix += "GPU" + std::to_string(from);
    for (int to = 0; to < 8; ++to) matrix += from == to ? "\t X " : "\tPHB";
    matrix += "\t0-191\t0-1\n";
  }
  EXPECT_THAT(codes_of(matrix), UnorderedElementsAre("switches-hidden"));
}

TEST(FieldCase, Nccl707SettingsLeftOverFromATest) {
  EXPECT_THAT(
      codes_of("10-90-43-152:120890:121560 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to LOC\n"
               "10-90-43-152:120890:121560 [0] NCCL INFO NCCL_SHM_DISABLE set by environment to 1.\n"),
      UnorderedElementsAre("setting-costly"));
}

TEST(FieldCase, PyTorch117748NvlsTreeOf2193) {
  EXPECT_THAT(codes_of("NCCL version 2.19.3+cuda12.3\n# Avg bus bandwidth    : 104.2\n"),
              UnorderedElementsAre("nccl-defect"));
}

TEST(FieldCase, DeepEp38AHealthyRoceCardIsNone) {
  EXPECT_THAT(
      codes_of("hca_id: mlx5_2\n        transport:                      InfiniBand (0)\n"
               "        fw_ver:                         28.42.1000\n"
               "                port:   1\n                        state:                  PORT_ACTIVE (4)\n"
               "                        max_mtu:                4096 (5)\n"
               "                        active_mtu:             4096 (5)\n"
               "                        sm_lid:                 0\n"
               "                        link_layer:             Ethernet\n"),
      IsEmpty());
}

}  // namespace
}  // namespace collbench::topology
