// Threads in which people found the cause of a slow or broken job, by the lines that they quote there and no
// others: docs/notes/doctor-cases.md lists them, and those whose evidence no file holds or no line shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "tests/source_folder.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology {
namespace {

/// How sure the thread is of its cause.
enum class Proof { confirmed, reported };

struct FieldCase {
  std::string thread;
  Proof proof;
  std::string text;  ///< lines of the thread
  std::string code;  ///< the only finding; empty: none
};

const std::vector<FieldCase>& field_cases() {
  static const std::vector<FieldCase> all{
      {"nccl#304", Proof::confirmed,
       "ACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n",
       "acs-on"},
      {"nccl-tests#152", Proof::confirmed,
       "gpu32:22612:22693 [0] NCCL INFO Channel 00 : 0[7000] -> 8[7000] [send] via NET/IB/1/GDRDMA\n"
       "gpu37:52125:52256 [0] NCCL INFO Channel 00 : 0[7000] -> 8[7000] [receive] via NET/IB/0\n"
       "gpu32:22612:22761 [0] NCCL INFO Channel 00 : 0[7000] -> 12[88000] [send] via NET/IB/1/GDRDMA/Shared\n"
       "gpu37:52129:52281 [4] NCCL INFO Channel 00 : 0[7000] -> 12[88000] [receive] via NET/IB/5/Shared\n",
       "log-no-gpudirect"},
      {"nccl#1676", Proof::confirmed,
       "learn01:2228637:2230195 [3] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
       "learn01:2228637:2230195 [3] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_1'\n",
       "log-no-gpudirect"},
      {"nccl#709", Proof::confirmed,
       "g1lmd5:3684924:3685085 [0] transport/net_ib.cc:840 NCCL WARN NET/IB : Got completion with error 12, "
       "opcode 32736, len 32736, vendor err 129\n",
       "log-completion-error"},
      {"pytorch/ci-infra#541", Proof::confirmed,
       "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152:\n"
       "CUDA error 401 'the operation cannot be performed in the present state'.\n"
       "This is usually caused by a system or configuration error in the Fabric Manager or NVSwitches.\n",
       "log-nvls-failed"},
      {"nccl-tests#216", Proof::confirmed,
       "c2ce1c877ea3:1023:1032 [0] NCCL INFO NVLS Bind mem 0xac0000000 UC handle 0x7f3310ccb240 MC handle "
       "0x7f3310ccaa20 size 1073741824\n",
       "log-nvls-hang"},
      {"nccl-tests#27", Proof::confirmed,
       "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 3.94145 \n#\n"
       "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 3.94156 \n",
       "log-separate-runs"},
      {"nccl#523", Proof::reported,
       "ACSCtl: SrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-\n"
       "ACSCtl: SrcValid- TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd- EgressCtrl- DirectTrans-\n"
       "ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n",
       "acs-on"},
      {"nccl#897", Proof::reported,
       "9[1a000] -> 2[6b000] [send] via NET/IB/0/GDRDMA\n9[1a000] -> 2[6b000] [receive] via NET/IB/1\n",
       "log-no-gpudirect"},
      {"nccl-tests#213", Proof::reported,
       "# nThread 1 nGpus 8 minBytes 1073741824 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: "
       "20\n"
       "#\n# Using devices\n"
       "# nThread 1 nGpus 8 minBytes 1073741824 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: "
       "20\n"
       "#\n# Using devices\n#  Rank  0 Group  0 Pid    798 on       hw14 device  0 [0x0f] NVIDIA H800\n",
       "log-separate-runs"},
      {"azhpc-diagnostics#73", Proof::reported,
       "GPU 3: Tesla V100-SXM2-32GB (UUID: GPU-00000000-0000-0000-0000-000000000003)\n"
       "         Link 0: 25.781 GB/s\n         Link 1: 25.781 GB/s\n         Link 2: 25.781 GB/s\n"
       "         Link 3: <inactive>\n         Link 4: 25.781 GB/s\n         Link 5: <inactive>\n",
       "nvlink-inactive"},
      {"gpud#1085", Proof::reported,
       "GPU 2: NVIDIA B200 (UUID: GPU-00000000-0000-0000-0000-000000000002)\n"
       "NVML: Unable to retrieve NVLink information as all links are inActive\n",
       "nvlink-inactive"},
      {"rccl#1423", Proof::reported,
       "link mlx5_7/1 subnet_prefix fe80:0000:0000:0000 lid 3403 sm_lid 1 lmc 0 state DOWN physical_state "
       "POLLING\n",
       "port-lost"},
      {"nccl#707", Proof::reported,
       "10-90-43-152:120890:121560 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to LOC\n"
       "10-90-43-152:120890:121560 [0] NCCL INFO NCCL_SHM_DISABLE set by environment to 1.\n",
       "setting-costly"},
      {"pytorch#117748", Proof::reported, "NCCL version 2.19.3+cuda12.3\n# Avg bus bandwidth    : 104.2\n",
       "nccl-defect"},
  };
  return all;
}

std::vector<std::string> codes_of(const std::string& text) {
  Evidence evidence;
  add_evidence(evidence, text, "thread", "");
  std::vector<std::string> codes;
  for (const DoctorFinding& finding : diagnose(evidence).findings) codes.emplace_back(finding.check.code);
  return codes;
}

TEST(FieldCases, EachIsNamedByItsOwnLinesAndNothingElseIs) {
  for (const FieldCase& each : field_cases())
    EXPECT_THAT(codes_of(each.text), testing::ElementsAre(each.code)) << each.thread;
}

/// What people suspected, and was not it, or what they show of the state after the mend.
TEST(FieldCases, WhatIsHealthyIsNotAccused) {
  const std::vector<std::pair<std::string, std::string>> healthy{
      {"nccl#304, after", "ACSCtl:\tSrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl-\n"},
      {"nccl#606: SrcValid alone redirects nothing",
       "ACSCtl: SrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-\n"},
      {"nccl-tests#27, one node", "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 3.95192\n"},
      {"nccl#2186: 0xaa is healthy",
       "gb200a-04:2101743:2101803 [1] NCCL INFO MNNVL busId 0x901000 fabric UUID "
       "3143b15bc2cd192b.28cc9b5473fb5b93 cliqueId 0x7ffe state 3 healthMask 0xaa\n"},
      {"rccl#1423, a moment later",
       "link mlx5_7/1 subnet_prefix fe80:0000:0000:0000 lid 3403 sm_lid 1 lmc 0 state ACTIVE physical_state "
       "LINK_UP\n"},
      {"DeepEP#38, a healthy RoCE card",
       "hca_id: mlx5_2\n        transport:                      InfiniBand (0)\n"
       "        fw_ver:                         28.42.1000\n"
       "                port:   1\n                        state:                  PORT_ACTIVE (4)\n"
       "                        max_mtu:                4096 (5)\n"
       "                        active_mtu:             4096 (5)\n"
       "                        sm_lid:                 0\n"
       "                        link_layer:             Ethernet\n"},
  };
  for (const auto& [thread, text] : healthy) EXPECT_THAT(codes_of(text), testing::IsEmpty()) << thread;
}

/// The page says which threads are named; the test says the same.
TEST(FieldCases, ThePageListsThem) {
  const std::string page = read_file(std::string(source_folder()) + "/docs/notes/doctor-cases.md");
  std::size_t confirmed = 0;
  for (const FieldCase& each : field_cases()) {
    EXPECT_NE(page.find(each.thread), std::string::npos) << each.thread;
    EXPECT_NE(page.find("`" + each.code + "`"), std::string::npos) << each.code;
    confirmed += each.proof == Proof::confirmed ? 1U : 0U;
  }
  EXPECT_EQ(confirmed, 7U);
}

/// Not quoted as text in the thread, but told there: all pairs PHB, one flat NUMA node range.
TEST(FieldCases, Nccl1298AVirtualMachineHidesItsSwitches) {
  std::string matrix = "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tCPU Affinity\tNUMA Affinity\n";
  for (int from = 0; from < 8; ++from) {
    matrix += "GPU" + std::to_string(from);
    for (int to = 0; to < 8; ++to) matrix += from == to ? "\t X " : "\tPHB";
    matrix += "\t0-191\t0-1\n";
  }
  EXPECT_THAT(codes_of(matrix), testing::ElementsAre("switches-hidden"));
}

}  // namespace
}  // namespace collbench::topology
