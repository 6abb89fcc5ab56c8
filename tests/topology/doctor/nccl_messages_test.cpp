#include "topology/doctor/nccl_messages.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/text_input.hpp"
#include "tests/source_folder.hpp"
#include "tests/topology/doctor/log_check_cases.hpp"
#include "tests/topology/doctor/nccl_message_cases.hpp"
#include "tests/topology/doctor/node_message_cases.hpp"

namespace collbench::topology::nccl_messages_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string code_of(std::string_view line, std::string_view before = {}) {
  return std::string(message_code(line, log_line(line, before)));
}

Diagnosis diagnosed(const std::string& log) { return diagnose(evidence_of({{"", log}})); }

/// The texts of NCCL's sources, from 2.18.3 to 2.31, as lines of a log.
std::vector<std::string> warnings_of_all_versions() {
  std::vector<std::string> lines;
  const std::string file = std::string(source_folder()) + "/tests/topology/doctor/nccl_warnings.tsv";
  for (const Line& row : clean_lines(read_file(file))) {
    if (row.text.starts_with('#')) continue;
    const std::vector<std::string> cells = split_cells(row.text, '\t');
    std::string text = cells.at(3);
    for (std::size_t at = text.find("<>"); at != std::string::npos; at = text.find("<>"))
      text.replace(at, 2, "7");
    lines.push_back(fmt::format("n1:10:11 [0] {}:12 NCCL WARN {}", cells.at(2), text));
  }
  return lines;
}

TEST(NcclMessages, EveryWarningOfEveryVersionIsKnownAndThePageSaysHowWell) {
  std::size_t with_cause = 0;
  std::size_t without = 0;
  std::size_t noise = 0;
  for (const std::string& line : warnings_of_all_versions()) {
    const std::string code = code_of(line);
    EXPECT_NE(code, "") << line;
    ++(code == "noise" ? noise : code == "log-cause-unknown" ? without : with_cause);
  }
  const std::string page = read_file(std::string(source_folder()) + "/docs/doctor.md");
  EXPECT_THAT(
      page, HasSubstr(fmt::format("{} with a cause, {} without one, {} noise", with_cause, without, noise)));
}

TEST(NcclMessages, WarningsOfNccl1AreRead) {
  EXPECT_THAT(found_codes(diagnosed("WARN src/core.cu:225 Cuda failure 'out of memory'\n")),
              ElementsAre("log-gpu-memory"));
  EXPECT_THAT(found_codes(diagnosed("WARN src/core.cu:225 the quantum link lost coherence\n")),
              ElementsAre("log-unknown-warning"));
}

TEST(NcclMessages, ALineOfEachBlockIsFoundAsThatAndNothingElse) {
  std::vector<std::string> codes;
  for (const auto* lines : {&lines_of_blocks(), &lines_of_node_blocks()})
    for (const auto& [code, line] : *lines) {
      EXPECT_THAT(found_codes(diagnosed("n1:10:11 [0] " + line + "\n")), ElementsAre(code)) << line;
      codes.push_back(code);
    }
  codes.insert(codes.end(), {"log-data-preparation", "log-zero3-modules"});  // below
  for (const DoctorCheck& check : log_message_checks()) EXPECT_THAT(codes, Contains(std::string(check.code)));
}

TEST(NcclMessages, TheFirstFrameOfUcxsStackSaysWhereItCrashed) {
  const std::string signal = "[n1:10:0:11] Caught signal 11 (Segmentation fault: address not mapped)\n";
  const std::string ucs = " 0  /usr/lib/libucs.so.0(ucs_handle_error+0x2d4) [0x7fed]\n";
  EXPECT_THAT(found_codes(diagnosed(signal + ucs + " 3  /opt/lib/libnccl.so(+0x120057) [0x7ff1]\n")),
              ElementsAre("log-crash-in-nccl"));
  EXPECT_THAT(found_codes(diagnosed(signal + ucs +
                                    " 3  /opt/lib/libapp.so(+0x1) [0x7ff1]\n"
                                    " 4  /opt/lib/libnccl.so(+0x120057) [0x7ff1]\n")),
              ElementsAre("log-process-crashed"));
}

TEST(NcclMessages, NodesThatAreWellHaveNoFinding) {
  for (const std::string& line : healthy_lines_of_nodes())
    EXPECT_THAT(found_codes(diagnosed(std::string(kComplete) + line + "\n")), IsEmpty()) << line;
}

/// Every training run prepares data; it explains a wait that ran out of time.
TEST(NcclMessages, PreparedDataIsACauseOfATimeoutAlone) {
  const std::string bar =
      "Running tokenizer on dataset:   8%|#     | 726/9672 [02:32<30:38, 4865.30 examples/s]\n";
  const std::string start = std::string(kComplete);
  EXPECT_THAT(found_codes(diagnosed(start + bar)), IsEmpty());
  EXPECT_THAT(found_codes(diagnosed(
                  start + bar +
                  "[rank1]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:6] [Rank 1] Watchdog caught "
                  "collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=1, "
                  "NumelOut=1, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n")),
              UnorderedElementsAre("log-watchdog-timeout", "log-data-preparation"));
  const std::string other_modules =
      "Invalidate trace cache @ step 1: expected module 25, but got module 323\n";
  EXPECT_THAT(found_codes(diagnosed(start + other_modules)), IsEmpty());
  EXPECT_THAT(
      found_codes(diagnosed(start + other_modules +
                            "[E ProcessGroupNCCL.cpp:467] [Rank 1] Watchdog caught collective operation "
                            "timeout: WorkNCCL(SeqNum=7, OpType=_ALLGATHER_BASE, NumelIn=2, NumelOut=8, "
                            "Timeout(ms)=1800000) ran for 1800001 milliseconds before timing out.\n")),
      UnorderedElementsAre("log-watchdog-timeout", "log-zero3-modules"));
}

/// The garbage group of NCCL 2.27 (nccl#1762) is no loss of 255 ranks.
TEST(NcclMessages, OfRasTheProcessesThatAreMissingAreFound) {
  const Diagnosis diagnosis = diagnosed(
      "INCOMPLETE\n  Missing communicator data from 1 job process\n  Process 60004 on node 10.4.109.13 "
      "managing GPU 0\n\n#2-0 (93d7000200000001) INCOMPLETE\n  Missing communicator data from 255 ranks\n"
      "  Rank 1057455228 -- GPU 0 managed by process 0 on node 0.0.0.0\n");
  ASSERT_THAT(found_codes(diagnosis), ElementsAre("log-ras-missing"));
  EXPECT_EQ(diagnosis.findings.front().observations.size(), 1U);
}

/// Of a job whose log names a cause the program's own last words add nothing; where NCCL only says that a
/// call failed they may be the cause.
TEST(NcclMessages, AnErrorOfAnotherProgramIsQuotedWhereNothingExplainsIt) {
  const std::string start = std::string(kComplete);
  const std::string error = "[rank3]: RuntimeError: the optimizer has lost its state\n";
  const Diagnosis alone = diagnosed(start + error);
  EXPECT_THAT(found_codes(alone), ElementsAre("log-unknown-error"));
  EXPECT_EQ(alone.unknown_lines, 1U);
  for (const DoctorCheck& check : alone.healthy) EXPECT_FALSE(check.by_wording) << check.code;
  const Diagnosis explained =
      diagnosed(start + warned("include/alloc.h:17 NCCL WARN Cuda failure 2 'out of memory'") + error);
  EXPECT_THAT(found_codes(explained), ElementsAre("log-gpu-memory"));
  EXPECT_EQ(explained.unknown_lines, 0U);
  EXPECT_THAT(found_codes(diagnosed(start + warned("NCCL INFO init.cc:1300 -> 2") + error)),
              UnorderedElementsAre("log-error-trace", "log-unknown-error"));
}

/// What NCCL says while all is well, or while it waits.
TEST(NcclMessages, WhatIsNoneIsNotTakenForOne) {
  for (const char* line : {
           "NCCL INFO Call to connect returned Connection refused, retrying",
           "NCCL INFO socketPollConnect: connect returned Connection refused, retrying (3/34) after sleep "
           "for 300 msec",
           "NCCL INFO NET/IB : mlx5_0:1 Got async event : port active",
           "NCCL INFO misc/socket.cc:829 -> 3",
           "NCCL INFO group.cc:64 -> 7 [Async thread]",
           "NCCL INFO init.cc:1500 Cuda Host Alloc Size 4 pointer 0x7",
           "NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 4 nics)",
           "NCCL INFO NET/OFI Selected provider is efa;ofi_rxr, fabric is EFA (found 4 nics)",
           "1048576 262144 float sum -1 101.7 10.3 19.3 0 102.1 10.3 19.3 N/A",
           "8 2 float sum 19.9 0.00 0.00 2e-07 18.9 0.00 0.00 2e-07",
           "exitcode  : 1 (pid: 4004)",
       })
    EXPECT_EQ(code_of(line), "") << line;
}

TEST(NcclMessages, AFailedTransferIsQuotedWithTheNicAtItsEnd) {
  const Diagnosis failed = diagnosed(
      "[2026-11-02 09:14:01] gx01:41001:41101 [1] transport/net_ib/p2p.cc:701 (ncclIbLogCompletionWithError) "
      "NCCL "
      "WARN NET/IB: Got completion from peer 10.4.1.12<47012> with status=IBV_WC_RETRY_EXC_ERR(12) "
      "opcode=IBV_WC_SEND(0) vendor_err=129 localGid ::ffff:10.4.1.11 remoteGids::ffff:10.4.1.12 hca "
      "mlx5_2\n");
  EXPECT_THAT(failed.findings.at(0).observations.at(0).what, testing::EndsWith("hca mlx5_2\""));
}

/// What was looked at and is well is no warning, and what could not be looked at is none.
TEST(NcclMessages, DiagnosticsAreReadByTheirTags) {
  const Diagnosis well = diagnosed(
      "n1:10 NCCL DIAG === NCCL Diagnostics ===\n"
      "n1:10 NCCL DIAG [OK]   NCCL environment: consistent across 16 ranks in comm 0x77\n"
      "n1:10 NCCL DIAG [INFO] ECC: diagnostics incomplete, gathered 15/16 ranks in comm 0x77\n"
      "n1:10 NCCL DIAG NCCL diagnostics completed in 245.3 ms across 8 ranks\n");
  EXPECT_THAT(found_codes(well), IsEmpty());
  // Of a container that may read no kernel log, without root, on a machine that is well.
  EXPECT_THAT(
      found_codes(diagnosed(
          "n1:10 NCCL DIAG [INFO] Xid/SXid: no kernel-log source was available on host n1\n"
          "n1:10 NCCL DIAG [INFO] ECC: no uncorrected volatile errors across 15 of 16 ranks in comm 0x77 "
          "(ECC "
          "counters unavailable via NVML on 1 ranks)\n"
          "n1:10 NCCL DIAG [INFO] rdma_topo check: not usable on 16/16 ranks in comm 0x77 (unavailable)\n"
          "n1:10 NCCL DIAG [INFO] ATS state: PCIe capabilities require root access on 16 rank/NIC pair(s) "
          "across "
          "16/16 ranks in comm 0x77\n"
          "n1:10 NCCL DIAG [INFO] IOMMU mode: passthrough on 9 device(s); first rank 0 device 0000:1b:00.0 "
          "in "
          "comm 0x77\n"
          "n1:10 NCCL DIAG [INFO] IOMMU groups: GPU and NIC groups differ on 8 pair(s) in comm 0x77; first "
          "rank 0 "
          "GPU group 12 NIC 0000:18:00.0 group 14\n"
          "n1:10 NCCL DIAG [INFO] Paths: self+NVL+NET(8/16) across 16 ranks in comm 0x77\n"
          "n1:10 NCCL DIAG [INFO] Paths: incomplete for comm 0x77: topology-dependent data was unavailable "
          "for 2 "
          "of 16 ranks\n"
          "n1:10 NCCL DIAG [INFO] Net device: skipped across 16 ranks in comm 0x77 (network plugin is not a "
          "recognized verbs-based InfiniBand/RoCE plugin)\n"
          "n1:10 NCCL DIAG [INFO] NCCL environment: 2 rank(s) had >4096 bytes of NCCL_* env vars; comparison "
          "may "
          "be partial\n"
          "n1:10 NCCL DIAG [INFO] net bw: 371.0/388.4/392.1 Gbit/s min/median/max same-nic bw (across 14 "
          "ranks) "
          "in comm 0x77\n"
          "n1:10 NCCL DIAG [INFO] net bw: setup failed on rank 3 in comm 0x77\n")),
      IsEmpty());
  EXPECT_THAT(found_codes(diagnosed("NCCL DIAG [INFO] the flux is out of phase on rank(s) {1}\n")),
              ElementsAre("log-unknown-warning"));
}

/// Slurm kills what is left of a step after a task has failed: both are said, and what failed first stays.
TEST(NcclMessages, WhatSlurmKillsDoesNotHideWhatFailedFirst) {
  const std::string failed = "srun: error: n4: task 1: Exited with exit code 14\n";
  const std::string killed = "srun: error: n3: task 0: Killed\n";
  const std::string canceled =
      "slurmstepd: error: *** STEP 138.0 ON n3 CANCELLED AT 2024-04-18T13:05:02 ***\n";
  const std::string error = "RuntimeError: the optimizer has lost its state\n";
  const auto codes = [](const std::string& log) { return found_codes(diagnosed(log)); };
  EXPECT_THAT(codes(error + failed + killed),
              UnorderedElementsAre("log-task-killed", "log-task-failed", "log-unknown-error"));
  EXPECT_THAT(codes(killed + failed), UnorderedElementsAre("log-task-killed", "log-task-failed"));
  EXPECT_THAT(codes(canceled), ElementsAre("log-step-canceled"));
  // What rank 0 says before others lose it is why.
  const std::string lost =
      "[1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value "
      "store by key '0', but store->get('0') got error: Connection reset by peer\n";
  EXPECT_THAT(codes("srun: job 7 queued\n" + error + lost),
              UnorderedElementsAre("log-store-wait", "log-unknown-error"));
  // So it is where others' logs stand before rank 0's: that a rank waited is no cause.
  EXPECT_THAT(codes(lost + error), UnorderedElementsAre("log-store-wait", "log-unknown-error"));
}

TEST(NcclMessages, EachBlockOfTheTableIsWhole) {
  EXPECT_GT(log_message_checks().size(), 40U);
  std::set<std::string_view> codes;
  for (const DoctorCheck& check : log_message_checks()) {
    EXPECT_TRUE(codes.insert(check.code).second) << check.code << " stands twice";
    EXPECT_TRUE(check.by_wording && check.look == nullptr) << check.code;
    for (const std::string_view text : {check.reason, check.needs, check.confirm, check.fix, check.source})
      EXPECT_FALSE(text.empty()) << check.code;
  }
}

/// A warning that nobody knows is quoted and counted by its kind, and nothing of NCCL is healthy.
TEST(NcclMessages, WhatNoCheckKnowsIsCountedByKind) {
  const auto line = [](int second, int pid, int peer) {
    return fmt::format(
        "\n[2026-03-02 14:09:{}] n1:{}:99 [0] net_quantum.cc:300 NCCL WARN The quantum link of peer {} lost "
        "coherence\n",
        second, pid, peer);
  };
  const std::string ranks =
      "n1:10:10 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 3 nranks 8 cudaDev 3 - Init START\n"
      "n1:20:20 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 5 nranks 8 cudaDev 5 - Init START\n";
  const Diagnosis diagnosis =
      diagnosed(std::string(kComplete) + ranks + line(10, 10, 17) + line(12, 10, 4) + line(40, 20, 4) +
                warned("net_quantum.cc:9 NCCL WARN Entanglement was lost"));
  ASSERT_THAT(found_codes(diagnosis), ElementsAre("log-unknown-warning"));
  EXPECT_EQ(diagnosis.unknown_lines, 4U);
  const auto& seen = diagnosis.findings.front().observations;
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_THAT(seen.front().what, HasSubstr("3 times from 14:09:10 to 14:09:40, by rank 3, rank 5"));
  EXPECT_EQ(seen.front().location.substr(0, 5), "FILE:");
  for (const DoctorCheck& check : diagnosis.healthy) EXPECT_FALSE(check.by_wording) << check.code;
}

/// A log clears only where the wordings of its version are known, and no state of a plugin is left
/// unexplained.
TEST(NcclMessages, OnlyAKnownVersionClears) {
  const auto healthy = [](const std::string& version) {
    const Diagnosis diagnosis = diagnosed(
        "n1:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 1 - Init COMPLETE\n" + version);
    return std::count_if(diagnosis.healthy.begin(), diagnosis.healthy.end(),
                         [](const DoctorCheck& check) { return check.by_wording; });
  };
  EXPECT_GT(healthy("NCCL version 2.18.3+cuda12.2\n"), 40);
  EXPECT_GT(healthy("NCCL version 2.31.2+cuda13.0\n"), 40);
  for (const char* version : {"", "NCCL version 2.17.1+cuda12.0\n", "NCCL version 2.32.3+cuda13.0\n",
                              "NCCL version 2.31.2+cuda13.0\nn1:1:1 [0] rdma.c:7 NCCL WARN NET/OFI Invalid "
                              "request type 7\n"})
    EXPECT_EQ(healthy(version), 0) << version;
}

/// What a framework passes on of NCCL has its own words before it.
TEST(NcclMessages, WhatAFrameworkPassesOnIsReadAsWhatNcclSaid) {
  for (const char* before : {"", "[rank3]: ", "(Worker pid=7) ERROR 05-22 10:26:17 [executor.py:870]     ",
                             "(RayWorkerVllm pid=7500) ERROR 04-07 00:57:46 ray_utils.py:45] "}) {
    const std::string log = fmt::format(
        "{0}ncclRemoteError: A call failed possibly due to a network error.\n{0}Last error:\n"
        "{0}Cuda failure 2 'out of memory'\n",
        before);
    EXPECT_THAT(found_codes(diagnosed(log)), ElementsAre("log-gpu-memory")) << log;
    EXPECT_EQ(code_of(fmt::format("{}ncclSystemError: System call failed.", before)), "log-job-failed");
  }
  EXPECT_THAT(
      found_codes(diagnosed("INTERNAL: NCCL operation ncclCommInitRank() failed: unhandled cuda error. Last "
                            "NCCL warning(error) log entry (may be unrelated) 'Cuda failure 2 'out of "
                            "memory''.; current tracing scope: x\n")),
      ElementsAre("log-gpu-memory"));
  EXPECT_THAT(
      found_codes(diagnosed("failed: unhandled cuda error. Last NCCL warning(error) log entry (may be "
                            "unrelated) ''.; current tracing scope: x\n")),
      ElementsAre("log-job-failed"));
}

/// A job that failed has failed, also where the line that says why is not known.
TEST(NcclMessages, ALineThatNobodyKnowsExplainsNothing) {
  EXPECT_THAT(found_codes(diagnosed(warned("net_quantum.cc:3 NCCL WARN The quantum link is gone") +
                                    "n7: Test NCCL failure common.cu:961 'internal error'\n")),
              UnorderedElementsAre("log-job-failed", "log-unknown-warning"));
  EXPECT_THAT(
      found_codes(diagnosed("ncclInternalError: Internal check failed.\nLast error:\nThe quantum link is "
                            "gone\n")),
      UnorderedElementsAre("log-job-failed", "log-unknown-warning"));
}

/// A trace says that a call failed, where no line says why; what says why is enough.
TEST(NcclMessages, ATraceOfAnErrorIsOneWithoutAnyWord) {
  const std::string start = std::string(kComplete) + warned("NCCL INFO Bootstrap : Using ib0:10.0.4.1<0>") +
                            "n2:7:7 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib1:10.0.8.2<0>\n";
  const std::string trace = warned("NCCL INFO misc/socket.cc:560 -> 2") +
                            warned("NCCL INFO bootstrap.cc:270 -> 2") + warned("NCCL INFO init.cc:1300 -> 2");
  const auto codes = [&](const std::string& more) { return found_codes(diagnosed(start + more)); };
  EXPECT_THAT(codes(""), IsEmpty());
  const Diagnosis alone = diagnosed(start + trace);
  ASSERT_THAT(found_codes(alone), ElementsAre("log-error-trace"));
  const auto& seen = alone.findings.front().observations;
  EXPECT_EQ(seen.front().what, "hosts first connect by: n1 ib0:10.0.4.1, n2 ib1:10.0.8.2");
  EXPECT_THAT(seen.back().what, HasSubstr("init.cc:1300 -> 2"));
  for (const DoctorCheck& check : alone.healthy) EXPECT_FALSE(check.by_wording) << check.code;
  EXPECT_EQ(diagnosed(start + warned("NCCL INFO init.cc:7 -> 1")).findings.front().observations.size(), 1U);

  EXPECT_THAT(codes(trace + "n1: Test NCCL failure common.cu:7 'unhandled system error'\n"),
              ElementsAre("log-error-trace"));
  EXPECT_THAT(codes(trace + warned("include/alloc.h:17 NCCL WARN Cuda failure 2 'out of memory'")),
              ElementsAre("log-gpu-memory"));
  EXPECT_THAT(codes(trace + warned("net_quantum.cc:3 NCCL WARN The quantum link is gone")),
              ElementsAre("log-error-trace", "log-unknown-warning"));
  EXPECT_THAT(codes(trace + warned("NCCL WARN Could not find real path of /sys/class/pci_bus/0000:03")),
              ElementsAre("log-error-trace", "log-topology-incomplete"));
  EXPECT_THAT(codes("[rank1]:[E105 06:24:44.9 ProcessGroupNCCL.cpp:6] [Rank 1] Watchdog caught collective "
                    "operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE)\n" +
                    trace),
              ElementsAre("log-watchdog-timeout"));
  EXPECT_THAT(codes("slurmstepd: error: *** STEP 8.0 ON n1 CANCELLED AT 2026-11-20T10:30:00 ***\n" + trace),
              ElementsAre("log-step-canceled"));
}

/// What may cost something is not why a job failed.
TEST(NcclMessages, ARiskDoesNotHideThatAJobFailed) {
  const std::string failed = "n1: Test NCCL failure common.cu:7 'unhandled system error'\n";
  for (const char* risk : {"NCCL WARN Could not find real path of /sys/class/pci_bus/0000:03",
                           "NCCL WARN NCCL_CGA_CLUSTER_SIZE value 99 is too big"})
    EXPECT_THAT(found_codes(diagnosed(failed + warned(risk))), Contains("log-job-failed")) << risk;
}

/// Said without a need: other checks read it, or nothing is lost.
TEST(NcclMessages, NoiseIsNoFinding) {
  for (const char* line :
       {"misc/ibvwrap.cc:63 NCCL WARN Failed to open libibverbs.so[.1]",
        "[rank1]:[W ProcessGroupNCCL.cpp:2302] Warning: TORCH_NCCL_AVOID_RECORD_STREAMS=1 has no effect for "
        "point-to-point collectives. (function operator())"})
    EXPECT_THAT(found_codes(diagnosed(warned(line))), IsEmpty()) << line;
}

/// What is said of causes that a log cannot tell apart, and of NCCL's cousin.
TEST(NcclMessages, WhatIsNotCertainIsACandidate) {
  const auto finding = [](const std::string& words) { return diagnosed(warned(words)).findings.front(); };
  EXPECT_THAT(finding("transport/nvls.cc:598 NCCL WARN Cuda failure 1 'invalid argument'").fix,
              HasSubstr("candidates: "));
  EXPECT_THAT(finding("NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory").fix,
              HasSubstr("very many peers"));
  EXPECT_THAT(finding("bootstrap.cc:77 NCCL WARN Message truncated : received 8 bytes instead of 4").fix,
              HasSubstr("2.19.3 to 2.20.5"));
  EXPECT_THAT(finding("graph/xml.cc:332 NCCL WARN Could not find real path of /sys/class/x").fix,
              HasSubstr("WSL2"));
  EXPECT_THAT(finding("graph/search.cc:703 NCCL WARN XML Import Channel : dev 1 not found.").fix,
              HasSubstr("/etc/nccl.conf"));
  EXPECT_THAT(finding("net_quantum.cc:3 NCCL WARN The quantum link is gone").fix, HasSubstr("ROCm"));
  const auto notes = diagnosed(warned("NCCL INFO RCCL version : 2.27.7-HEAD:29e1567")).notes;
  EXPECT_THAT(notes, ElementsAre(HasSubstr("the log is of RCCL")));
}

/// Many machines have ports of both kinds, and get on well.
TEST(NcclMessages, PortsOfBothKindsAreNoFaultWithoutAFailedConnection) {
  const std::string ports =
      warned("NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.1<0>");
  const std::string failed =
      warned("NCCL WARN Call to ibv_modify_qp failed with 22 Invalid argument, on dev mlx5_2:1");
  EXPECT_THAT(found_codes(diagnosed(std::string(kComplete) + ports)), IsEmpty());
  EXPECT_THAT(found_codes(diagnosed(ports + failed)),
              UnorderedElementsAre("log-queue-pair-refused", "log-link-layers"));
}

/// The plugin tries one protocol after the other.
TEST(NcclMessages, WhatThePluginCouldNotStartIsNotMissedWhereItIsUsed) {
  const std::string failed = warned("NCCL WARN NET/OFI Caught exception in rdma_init: no write");
  EXPECT_THAT(found_codes(diagnosed(failed)), ElementsAre("log-ofi-start"));
  EXPECT_THAT(found_codes(diagnosed(failed + warned("NCCL INFO Using network AWS Libfabric"))), IsEmpty());
}

/// Of a row whose table has no end: that is where jobs are killed.
TEST(NcclMessages, WrongValuesOfARowAreWrongData) {
  for (const char* counts : {"12 102.1 10.3 19.3 0", "0 102.1 10.3 19.3 1e+06", "nan 102.1 10.3 19.3 N/A"})
    EXPECT_EQ(code_of(fmt::format("1048576 262144 float sum -1 101.7 10.3 19.3 {}", counts)),
              "log-data-wrong")
        << counts;
}

std::string first_seen(const Diagnosis& diagnosis) {
  return diagnosis.findings.empty() ? "" : diagnosis.findings.front().observations.front().what;
}

/// Launchers name the process in one line and its end in the next.
TEST(NcclMessages, TheEndOfAProcessIsSaidWithItsRank) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"Root Cause (first observed failure):\n[0]:\n  time      : 2026-11-20_10:30:00\n  host      : n17\n"
       "  rank      : 3 (local_rank: 3)\n  exitcode  : -9 (pid: 4004)\n",
       "rank 3 on n17: \"exitcode  : -9 (pid: 4004)\""},
      {"prterun noticed that process rank 11 with PID 5714 on node n18 exited on\nsignal 9 (Killed).\n",
       "rank 11 on n18: \"signal 9 (Killed).\""},
      {"=   RANK 3 PID 123 RUNNING AT n18\n=   KILLED BY SIGNAL: 9 (Killed)\n",
       "rank 3 on n18: \"=   KILLED BY SIGNAL: 9 (Killed)\""},
  };
  for (const auto& [log, seen] : cases) {
    const Diagnosis diagnosis = diagnosed(log);
    EXPECT_THAT(found_codes(diagnosis), ElementsAre("log-process-killed"));
    EXPECT_EQ(first_seen(diagnosis), seen);
  }
}

/// What others say of a rank that had ended is no fault of the network; an error that came before it may be.
TEST(NcclMessages, WhatOthersSayAfterAnEndBelongsToIt) {
  const std::string crash = "[n18:05714] Signal: Segmentation fault (11)\n";
  const std::string lost = warned(
      "transport/net_ib.cc:2270 NCCL WARN NET/IB: Got completion from peer 10.0.0.18<53012> with "
      "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1) vendor_err=129");
  const Diagnosis after = diagnosed(crash + lost);
  ASSERT_THAT(found_codes(after), ElementsAre("log-process-crashed"));
  EXPECT_THAT(after.findings.front().observations.back().what,
              HasSubstr("of who lost it: \"n1:1:1 [0] transport"));
  EXPECT_THAT(found_codes(diagnosed(lost + crash)),
              UnorderedElementsAre("log-process-crashed", "log-completion-error"));

  const std::string closed =
      warned("misc/socket.cc:57 NCCL WARN socketProgress: Connection closed by remote peer n18<43210>");
  const std::string canceled = "slurmstepd: error: *** STEP 8123.0 ON n17 CANCELLED AT 2026-11-20T10:30:00 ";
  const auto codes = [](const std::string& log) { return found_codes(diagnosed(log)); };
  EXPECT_THAT(codes("slurmstepd: error: Detected 1 oom_kill event in StepId=8123.0.\n" + closed),
              ElementsAre("log-oom-killed"));
  EXPECT_THAT(codes(canceled + "DUE TO TIME LIMIT ***\n" + closed), ElementsAre("log-job-canceled"));
  EXPECT_THAT(codes(closed + canceled + "***\n"), ElementsAre("log-peer-ended"));
  EXPECT_THAT(codes(crash + canceled + "***\nsrun: error: n17: tasks 0-7: Killed\n"),
              ElementsAre("log-process-crashed"));
}

TEST(NcclMessages, WhatFollowsAnErrorIsLeftOutBesideIt) {
  const std::string ended =
      warned("misc/socket.cc:60 NCCL WARN socketProgress: Connection closed by remote peer n7<4000>");
  EXPECT_THAT(found_codes(diagnosed(ended)), ElementsAre("log-peer-ended"));
  EXPECT_THAT(
      found_codes(diagnosed(ended + warned("include/alloc.h:178 NCCL WARN Cuda failure 2 'out of memory'"))),
      ElementsAre("log-gpu-memory"));
}

/// What ibv_modify_qp fails with is a way that is not there for some errors only.
TEST(NcclMessages, AQueuePairFailsForMoreThanOneReason) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {" with error Connection timed out errno 110", "log-queue-pair"},
      {" with 101 Network is unreachable, on dev mlx5_0:1", "log-queue-pair"},
      {" with error No such device", "log-queue-pair"},
      {" with 22 Invalid argument, on dev mlx5_0:1", "log-queue-pair-refused"},
      {" with error Cannot allocate memory", "log-queue-pair-refused"},
      {"", "log-queue-pair-refused"},
  };
  for (const auto& [error, code] : cases)
    EXPECT_THAT(
        found_codes(diagnose(evidence_of({{"", warned("NCCL WARN Call to ibv_modify_qp failed" + error)}}))),
        UnorderedElementsAre(code))
        << error;
}

TEST(NcclMessages, ADeviceThatCannotBeOpenedIsNotMissedWhereOthersAreUsed) {
  const std::string denied =
      warned("transport/net_ib.cc:200 NCCL WARN NET/IB : Unable to open device mlx5_7");
  const auto codes = [&denied](const std::string& words) {
    return found_codes(diagnosed(denied + warned(words)));
  };
  EXPECT_THAT(codes("NCCL INFO Using network IB"), IsEmpty());
  EXPECT_THAT(codes("NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>"), IsEmpty());
  EXPECT_THAT(codes("NCCL INFO NET/IB : No device found."), UnorderedElementsAre("log-device-denied"));
  // One that another rank uses is missing on this one.
  EXPECT_THAT(codes("NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [7]mlx5_7:1/IB [RO]; OOB eth0:10.0.0.1<0>"),
              UnorderedElementsAre("log-device-denied"));
  EXPECT_THAT(found_codes(diagnosed(warned("NCCL INFO NET/OFI No eligible providers were found") +
                                    warned("NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)"))),
              IsEmpty());
}

/// What a program says of exit codes and signals is not how a process ended.
TEST(NcclMessages, ProseIsNoEnd) {
  for (const char* line :
       {"#SBATCH --mail-type=NODE_FAIL,TIME_LIMIT",
        "INFO retry policy: restart when exitCode: 137 or exitCode: 139",
        "INFO handled exit code 1350 of the filter", "INFO checkpoint handler: on received SIGTERM it saves",
        "GPU exceeded memory limit; using less", "OOMKilled-protection enabled", "wandb: DeadlineExceeded",
        "vllm: reason: Preemption", "Reason: Evicted cache entries", "optuna: line 44 Aborted"})
    EXPECT_THAT(found_codes(diagnosed(std::string(kComplete) + line + "\n")), IsEmpty()) << line;
}

/// What frameworks, MPI and Ray print while all is well, in words that are nearly those of a failure.
TEST(NcclMessages, WhatAHealthyFrameworkSaysIsNoFailure) {
  for (
      const char* line :
      {"(EngineCore pid=395) INFO [shm_broadcast.py:705] No available shared memory broadcast block found in "
       "60 seconds. This typically happens when some processes do time-consuming work (e.g. compilation).",
       "INFO [gpu_worker.py:391] Free memory on device (43.93/44.42 GiB) on startup. Desired GPU memory "
       "utilization is (0.9, 39.98 GiB)",
       "INFO Maximum concurrency for 32,768 tokens per request: 7.27x",
       "server_args watchdog_timeout=300",
       "Custom allreduce is disabled because your platform lacks GPU P2P capability",
       "W0213 run.py:792] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default",
       "iteration 10/50 | loss scale: 4096.0 | number of skipped iterations: 0 | number of nan iterations: 0",
       "[INFO] [launch.py:347:main] Process 4711 exits successfully.",
       "train_batch_size is 96",
       "the dataset of 1001 samples is not divisible by the world size, and the last one is dropped",
       "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
       "I xla_bridge.py:660] Unable to initialize backend 'rocm': NOT_FOUND: platforms are: CUDA",
       "I coordination_service.cc:535] /job:worker/task:0 has connected to coordination service.",
       "INFO worker.py:1841 -- Started a local Ray instance.",
       "Worker exit type: INTENDED_SYSTEM_EXIT",
       "Horovod version: 0.28.1 (process 0 of 8)",
       "[1,0]<stdout>:Epoch 1/24, all ranks ready",
       "[W TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=7): failed to recv, got 0 bytes",
       "[W socket.cpp:663] [c10d] The client socket has failed to connect to [n1]:29500 (errno: 111 - "
       "Connection refused).",
       "WARNING: The call to cuCtxGetCurrent() failed while attempting to register",
       "NVSHMEM INFO nvshmemi_common_init failed, continuing",
       "handler of got signal: 10 is installed"})
    EXPECT_EQ(code_of(line), "") << line;
}

/// A rank's end names the cause; that others lost it, and that torchrun or MPI says so, adds nothing.
TEST(NcclMessages, ThatOthersLostATaskIsLeftOutBesideItsCause) {
  const std::string start = std::string(kComplete);
  const std::string lost = "torch.distributed.DistNetworkError: Connection reset by peer\n";
  const std::string cause = "ValueError: No available memory for the cache blocks.\n";
  const std::string engine = "RuntimeError: Engine core initialization failed. See root cause above.\n";
  EXPECT_THAT(found_codes(diagnosed(start + lost)), ElementsAre("log-task-lost"));
  EXPECT_THAT(found_codes(diagnosed(start + cause + engine)), ElementsAre("log-serve-memory"));
  const std::string stack = "Abort(7) on node 0: Fatal error in PMPI_Init: Other MPI error, error stack:\n";
  EXPECT_THAT(found_codes(diagnosed(start + stack)), ElementsAre("log-mpi-init"));
  EXPECT_THAT(found_codes(diagnosed(start + stack + "find_provider(170): OFI fi_getinfo() failure\n")),
              ElementsAre("log-mpi-provider"));
  // Whose error came later is not explained by it.
  EXPECT_THAT(found_codes(diagnosed(start + lost + "RuntimeError: the optimizer has lost its state\n")),
              UnorderedElementsAre("log-task-lost", "log-unknown-error"));
}

/// A rounding error of a table from before 2.13 is no wrong value.
TEST(NcclMessages, AnErrorOfRoundingIsNoWrongData) {
  EXPECT_THAT(
      found_codes(diagnosed(std::string(kComplete) +
                            "1048576 262144 float sum -1 101.7 10.3 19.3 4e-07 102.1 10.3 19.3 2e-07\n")),
      IsEmpty());
}

/// What is no defect of a machine explains none, and what is only slow is not why a process aborted.
TEST(NcclMessages, OnlyWhatBreaksExplainsWhatBroke) {
  const std::string lost = warned(
      "NCCL WARN NET/IB: Got completion from peer 10.0.0.2<4791> with status=12 opcode=1 "
      "len=0 vendor err 129");
  EXPECT_THAT(found_codes(diagnosed(
                  "slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-20T10:30:00 ***\n" + lost)),
              Contains("log-completion-error"));
  EXPECT_THAT(
      found_codes(diagnosed(warned("NCCL WARN Cannot initialize CollNet, using point-to-point network "
                                   "instead") +
                            "[node0:00123] Signal: Aborted (6)\n")),
      Contains("log-process-aborted"));
}

/// The plugin beside InfiniBand finds nothing and misses nothing; what it finds may be TCP alone.
TEST(NcclMessages, LibfabricIsMissedWhereNothingElseCarriesTheJob) {
  const std::string none = warned("NCCL INFO NET/OFI No eligible providers were found");
  EXPECT_THAT(found_codes(diagnosed(none)), ElementsAre("log-no-provider"));
  EXPECT_THAT(found_codes(diagnosed(none + warned("NCCL INFO Using network IB"))), IsEmpty());
  EXPECT_THAT(found_codes(diagnosed(none + warned("NCCL INFO Using network Socket"))),
              Contains("log-no-provider"));
  const Diagnosis tcp =
      diagnosed(std::string(kComplete) +
                warned("NCCL INFO NET/OFI Selected provider is tcp, fabric is 10.0.0.0/16 (found 2 nics)") +
                warned("NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Libfabric/0") +
                warned("NCCL INFO Channel 01/0 : 0[0] -> 8[0] [send] via NET/Libfabric/0"));
  EXPECT_THAT(found_codes(tcp), ElementsAre("log-no-gpudirect", "log-no-provider"));
  for (const DoctorCheck& check : tcp.healthy) EXPECT_NE(check.code, "log-sockets");
  // Nor does another host's network excuse the one that has none.
  EXPECT_THAT(
      found_codes(diagnosed(
          warned("NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 32 nics)") +
          warned("NCCL INFO NET/OFI Selected provider is tcp, fabric is 10.0.0.0/16 (found 2 nics)"))),
      Contains("log-no-provider"));
}

/// Each is known, with a cause.
TEST(NcclMessages, WhatUsersQuoteMostHasACause) {
  const std::string file = std::string(source_folder()) + "/tests/topology/doctor/frequent_warnings.txt";
  int texts = 0;
  const std::string content = read_file(file);
  for (const Line& line : clean_lines(content)) {
    const std::string text(line.text);
    if (text.starts_with('#')) continue;
    ++texts;
    const std::vector<std::string> codes = found_codes(
        diagnosed(warned((text.find("NCCL WARN") == std::string::npos ? "NCCL WARN " : "") + text)));
    EXPECT_THAT(codes, testing::Not(IsEmpty())) << text;
    EXPECT_THAT(codes, testing::Each(testing::Not(
                           testing::AnyOf("log-unknown-warning", "log-unknown-error", "log-cause-unknown"))))
        << text;
  }
  EXPECT_EQ(texts, 68);
}

/// Its name says that the interface is of an RDMA device.
TEST(NcclMessages, VerbsAreMissedWhereSocketsGoOverInfiniBand) {
  const auto of_interface = [](const std::string& name) {
    return found_codes(
        diagnosed("n1:1:2 [0] NCCL INFO Failed to open libibverbs.so[.1]\nn1:1:2 [0] NCCL INFO NET/Socket : "
                  "Using [0]" +
                  name + ":10.1.1.1<0>\n"));
  };
  EXPECT_THAT(of_interface("ib0"), ElementsAre("log-no-verbs"));
  EXPECT_THAT(of_interface("eth0"), IsEmpty());
  EXPECT_THAT(of_interface("ibmgmt0"), IsEmpty());
}

TEST(NcclMessages, WhatOtherProgramsSayAlikeIsNoFailure) {
  for (const char* const line : {"INFO yarn: not enough slots available for gang job-7, queued",
                                 "INFO Timed out after 5 seconds waiting for workers to exit cleanly",
                                 "nslookup: can't resolve '(null)': Name does not resolve",
                                 "[rank1]:[W1001 10:00:00.1 TCPStore.cpp:125] [c10d] recvValue failed on "
                                 "SocketImpl(fd=7): Connection reset by peer",
                                 "dataset.cc: Read -1, expected 4096, errno = 5",
                                 "[W1001 10:00:00.1 TCPStore.cpp:343] [c10d] TCP client failed to "
                                 "connect/validate to host n17:29500 - "
                                 "retrying (try=0, timeout=600000ms, delay=63ms): Connection refused"})
    EXPECT_THAT(found_codes(diagnosed("NCCL version 2.23.4+cuda12.4\n" + std::string(line) + "\n")),
                IsEmpty())
        << line;
}

TEST(NcclMessages, ALostDaemonIsOfTheNodeThatFailed) {
  const std::string daemon = "PRTE has lost communication with a remote daemon.\n";
  const std::string node =
      "slurmstepd: error: *** STEP 8123.0 ON n17 CANCELLED AT 2026-11-20T10:30:00 DUE TO NODE FAILURE, SEE "
      "SLURMCTLD LOG "
      "FOR DETAILS ***\n";
  for (const std::string& log : {daemon + node, node + daemon})
    EXPECT_THAT(found_codes(diagnosed(log)), ElementsAre("log-node-failed")) << log;
}

/// CUDA had run.
TEST(NcclMessages, NvmlExplainsNoKernelThatFailedBefore) {
  EXPECT_THAT(
      found_codes(diagnosed("[rank3]: RuntimeError: CUDA error: an illegal memory access was encountered\n"
                            "n2:1:2 [0] misc/nvmlwrap.cc:187 NCCL WARN nvmlDeviceGetHandleByIndex(0) failed: "
                            "Unknown Error\n")),
      UnorderedElementsAre("log-cuda-earlier", "log-nvml"));
}

TEST(NcclMessages, AVersionThatTheListOfDefectsDoesNotCoverIsNotCleared) {
  const auto clears_defects = [](const std::string& version) {
    const Diagnosis diagnosis = diagnosed("NCCL version " + version + "+cuda12.4\n");
    return std::ranges::any_of(diagnosis.healthy,
                               [](const DoctorCheck& check) { return check.code == "nccl-defect"; });
  };
  EXPECT_FALSE(clears_defects("2.7.8"));
  EXPECT_TRUE(clears_defects("2.23.4"));
  EXPECT_FALSE(clears_defects("2.99.1"));
}

/// A what() stands on the line below.
TEST(NcclMessages, AnExceptionThatNamesItsCauseExplainsItsAbort) {
  EXPECT_THAT(found_codes(diagnosed(
                  "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  "
                  "std::bad_alloc\nn2:7:8 [0] NCCL WARN socketProgress: Connection closed by remote "
                  "peer n1<4000>\n")),
              UnorderedElementsAre("log-process-aborted", "log-peer-ended"));
  EXPECT_THAT(found_codes(diagnosed(
                  "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: "
                  "uncorrectable NVLink error detected during the execution\n")),
              ElementsAre("log-nvlink-failed"));
}

}  // namespace
}  // namespace collbench::topology::nccl_messages_test
