#include "topology/doctor/nccl_messages.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/text_input.hpp"
#include "tests/source_folder.hpp"
#include "tests/topology/doctor/log_check_cases.hpp"

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

/// A line of each block, by versions and by who writes it; those of NCCL 2.2 to 2.17 are from published logs.
const std::vector<std::pair<std::string, std::string>>& lines() {
  static const std::vector<std::pair<std::string, std::string>> all{
      {"log-shm-removed",
       "misc/shmutils.cc:99 NCCL WARN unlink shared memory /dev/shm/nccl-Qw3xYz failed, error: No such file "
       "or directory (2)"},
      {"log-oom-killed",
       "slurmstepd: error: Detected 1 oom_kill event in StepId=8123.0. Some of the step tasks have been OOM "
       "Killed."},
      {"log-oom-killed", "srun: error: n18: task 9: Out Of Memory"},
      {"log-oom-killed", "slurmstepd: error: Job 8123 exceeded memory limit (9000 > 8000), being killed"},
      {"log-oom-killed", "      Reason:       OOMKilled"},
      {"log-oom-killed", "[12.3] Memory cgroup out of memory: Killed process 4711 (python3) total-vm:1kB"},
      {"log-node-failed", "srun: error: Node failure on n18"},
      {"log-node-failed",
       "slurmstepd: error: *** STEP 8123.0 ON n17 CANCELLED AT 2026-11-20T10:30:00 DUE TO NODE FAILURE, SEE "
       "SLURMCTLD LOG FOR DETAILS ***"},
      {"log-node-failed", "PRTE has lost communication with a remote daemon."},
      {"log-bus-error", "[n17:04711] Signal: Bus error (7)"},
      {"log-bus-error", "/opt/run.sh: line 3: 4711 Bus error               (core dumped) ./all_reduce_perf"},
      {"log-bus-error", "  exitcode  : -7 (pid: 4004)"},
      {"log-bus-error",
       "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient"},
      {"log-process-crashed", "[n18:05714] Signal: Segmentation fault (11)"},
      {"log-process-crashed",
       "mpirun noticed that process rank 9 with PID 5712 on node n18 exited on signal 11 (Segmentation "
       "fault)."},
      {"log-process-crashed", "[n18:5714:0:5714] Caught signal 11 (Segmentation fault: address not mapped)"},
      {"log-process-crashed", "srun: error: n18: tasks 8-15: Segmentation fault (core dumped)"},
      {"log-process-crashed",
       "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)"},
      {"log-process-crashed", "Fatal Python error: Segmentation fault"},
      {"log-process-crashed", "command terminated with exit code 139"},
      {"log-process-killed",
       "mpirun noticed that process rank 9 with PID 0 on node n18 exited on signal 9 (Killed)."},
      {"log-process-killed", "=   KILLED BY SIGNAL: 9 (Killed)"},
      {"log-process-killed",
       "torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -9) local_rank: 3 (pid: "
       "4004)"},
      {"log-process-killed", "command terminated with exit code 137"},
      {"log-process-killed", "    Exit Code:    137"},
      {"log-process-killed", "./run.sh: line 3: 12345 Killed                  ./all_reduce_perf -b 8"},
      {"log-process-aborted", "[n18:05714] Signal: Aborted (6)"},
      {"log-process-aborted", "srun: error: n18: task 11: Aborted (core dumped)"},
      {"log-job-canceled",
       "slurmstepd: error: *** STEP 8123.0 ON n17 CANCELLED AT 2026-11-20T10:30:00 DUE TO TIME LIMIT ***"},
      {"log-job-canceled", "=>> PBS: job killed: walltime 3660 exceeded limit 3600"},
      {"log-job-canceled",
       "torch.distributed.elastic.agent: Received Signals.SIGTERM death signal, shutting down"},
      {"log-test-timeout", "n18: Test timeout (60s) common.cu:470"},
      {"log-data-wrong", "# Out of bounds values : 4 FAILED"},
      {"log-diagnostics-p2p",
       "NCCL DIAG [INFO] p2p: only 55/56 GPU-to-GPU peer accesses passed verification"},
      {"log-diagnostics-p2p",
       "NCCL DIAG [INFO] p2p: write mismatch srcRank=2 srcCudaDev=2 dstRank=5 path=NVL handle=DIRECT"},
      {"log-diagnostics-gpu",
       "NCCL DIAG [INFO] NVLink: inactive link(s) on rank(s) {5} across 16 ranks in comm 0x77"},
      {"log-diagnostics-gpu",
       "NCCL DIAG [INFO] ECC: uncorrected volatile errors on rank(s) {5} (worst=2) across 16 ranks"},
      {"log-diagnostics-differ",
       "NCCL DIAG [INFO] CUDA driver version: mismatch across 16 ranks in comm 0x77, rank(s) {8,9} differ "
       "from "
       "rank 0 (13000)"},
      {"log-diagnostics-differ", "NCCL DIAG [INFO] NCCL environment: NCCL_ALGO=Ring on rank(s) {0,1,2,3}"},
      {"log-shared-memory",
       "include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device"},
      {"log-shared-memory", "include/shm.h:27 NCCL WARN Call to shm_open failed : Permission denied"},
      {"log-shared-memory",
       "NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl- (size 0)"},
      {"log-nvls-failed", "transport/nvls.cc:254 NCCL WARN Cuda failure 1 'invalid argument'"},
      {"log-mnnvl-unusable",
       "mnnvl.cc:70 NCCL WARN MNNVL (cliqueSize 18) is available but not working on this system. Check the "
       "IMEX "
       "configuration (nvidia-imex-ctl -N)."},
      {"log-imex-denied", "transport/p2p.cc:275 NCCL WARN Cuda failure 800 'operation not permitted'"},
      {"log-no-interface", "NCCL WARN Bootstrap : no socket interface found"},
      {"log-no-interface",
       "include/socket.h:311 WARN Socket creation failed : Address family not supported by protocol"},
      {"log-no-interface",
       "NCCL WARN Net : No interface found in the same subnet as remote address 10.0.0.1<27030>"},
      {"log-no-interface",
       "bootstrap.cc:120 NCCL WARN no device found matching eth9, verify NCCL_OOB_NET_IFNAME"},
      {"log-ports-exhausted", "misc/socket.cc:410 NCCL WARN Call to bind failed: Address already in use"},
      {"log-open-files", "misc/socket.cc:410 NCCL WARN Call to socket failed: Too many open files"},
      {"log-uds",
       "misc/ipcsocket.cc:60 NCCL WARN UDS: Binding to socket a temporary folder failed : Address already in "
       "use (98)"},
      {"log-connection", "include/socket.h:400 WARN Call to connect failed : Connection timed out"},
      {"log-connection",
       "os/linux.cc:200 NCCL WARN ncclOsSocketPollConnect: connect to 10.0.0.1<37857> returned Connection "
       "refused, "
       "exceeded error retry count after 35 attempts"},
      {"log-connection",
       "[n1][[1,1],2][btl_tcp_endpoint.c:796:mca_btl_tcp_endpoint_complete_connect] connect() to 172.17.0.1 "
       "failed: "
       "Connection refused (111)"},
      {"log-connection",
       "misc/socket.cc:533 NCCL WARN socketPollConnect: Connect to 10.0.0.4<56849> returned 113(No route to "
       "host) errno "
       "115(Operation now in progress)"},
      {"log-connection",
       "misc/socket.cc:700 NCCL WARN socketPollConnect: connect to 10.0.0.4<5000> failed : Network is "
       "unreachable"},
      {"log-connection",
       "misc/socket.cc:560 NCCL WARN socketPollConnect: connect returned Connection refused, exceeded error "
       "retry count (35)"},
      {"log-connection",
       "misc/socket.cc:480 NCCL WARN socketStartConnect: Connect to 10.0.0.4<5000> failed : Software caused "
       "connection abort"},
      {"log-net-devices-differ",
       "init.cc:900 NCCL WARN Detected mixed local Net device counts across ranks (min 3, max 4)."},
      {"log-version-mixed",
       "init.cc:700 NCCL WARN Mismatched NCCL version detected : rank 0 version 22304 rank 8 version 22105"},
      {"log-ranks-disagree",
       "ncclSocketInit: connecting to address  with family 59936 is neither AF_INET(2) nor AF_INET6(10)"},
      {"log-ranks-disagree", "NCCL WARN Message truncated : received 1024 bytes instead of 256"},
      {"log-ranks-disagree",
       "NCCL WARN NET/Socket : peer 10.0.0.9<1> message truncated : receiving 65536 bytes instead of 1024."},
      {"log-ranks-disagree",
       "misc/socket.cc:300 NCCL WARN socketFinalizeAccept from 10.0.0.9<1>: wrong type 4 != 3"},
      {"log-ranks-disagree",
       "bootstrap.cc:170 NCCL WARN Bootstrap Root : mismatch in rank count from procs 8 : 16"},
      {"log-gpu-twice",
       "init.cc:900 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 2000"},
      {"log-gpu-twice",
       "init.cc:900 NCCL WARN Multiple Ranks are using the same GPU/Partition. Set "
       "NCCL_MULTI_RANK_GPU_ENABLE=1 to enable"},
      {"log-completion-error",
       "transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4000> with error 4, "
       "opcode 0, len 0, "
       "vendor err 81 (Recv)"},
      {"log-completion-error",
       "transport/net_ib.cc:1909 NCCL WARN NET/IB: Got completion from peer 10.0.0.2<4000> with status=12 "
       "opcode=0 len=0 "
       "vendor err 129 (Recv) hca mlx5_0"},
      {"log-completion-error",
       "transport/net_ib/p2p.cc:800 (ncclIbTest) NCCL WARN NET/IB: Got completion from peer 10.0.0.2<4000> "
       "with "
       "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129 hca mlx5_0"},
      {"log-completion-error",
       "ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<40> with error 5, opcode 1"},
      {"log-nic-failed",
       "transport/net_ib.cc:90 NCCL WARN NET/IB : mlx5_0:1 async fatal event on QP (0x7f00): local work "
       "queue catastrophic error"},
      {"log-port-error", "NCCL WARN NET/IB : Got async event : port error"},
      {"log-port-error", "NCCL WARN NET/IB : mlx5_0:1 Got async error event: port error"},
      {"log-gid-changed", "NCCL WARN NET/IB : mlx5_0:1 GID table changed"},
      {"log-gid-unreadable",
       "transport/net_ib.cc:300 NCCL WARN NET/IB: open failed in ncclIbRoceGetVersionNum: No such file or "
       "directory"},
      {"log-memory-registration",
       "misc/ibvwrap.cc:284 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory "
       "errno 12"},
      {"log-dmabuf-refused",
       "misc/ibvwrap.cc:290 NCCL WARN Call to ibv_reg_dmabuf_mr failed with error Operation not supported "
       "errno 95"},
      {"log-queue-pair",
       "misc/ibvwrap.cc:300 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
       "mlx5_0:1"},
      {"log-queue-pair-refused",
       "misc/ibvwrap.cc:300 NCCL WARN Call to ibv_modify_qp failed with 22 Invalid argument, on dev "
       "mlx5_0:1"},
      {"log-device-denied", "misc/ibvwrap.cc:212 NCCL WARN Call to ibv_open_device failed"},
      {"log-nics-mixed",
       "transport/net_ib.cc:600 NCCL WARN NET/IB : Attempted to merge incompatible devices: [0]mlx5_0:1/IB "
       "and [1]mlx5_1:1/RoCE."},
      {"log-ofi-memory",
       "nccl_net_ofi_regMr:300 NCCL WARN NET/OFI Unable to register memory (type = 2) for device 3. RC: -22, "
       "Error: Invalid argument"},
      {"log-no-provider",
       "NCCL WARN NET/OFI Unable to find a protocol that worked.  Failing initialization."},
      {"log-no-provider", "NCCL WARN NET/OFI Couldn't find any optimal provider"},
      {"log-ofi-endpoint",
       "NCCL WARN NET/OFI Couldn't open endpoint. RC: -12, ERROR: Cannot allocate memory"},
      {"log-ofi-completion",
       "NCCL WARN NET/OFI Request 0x1 completed with error. RC: 21. Error: unknown. Completed length: 0, "
       "Request: x"},
      {"log-no-provider", "ofi_init:1288 NCCL WARN NET/OFI Only EFA provider is supported"},
      {"log-ofi-rails-differ",
       "accept_wait_for_connection:4909 NCCL WARN NET/OFI Unexpected number of remote rails for dev 0. "
       "Expected 3 but "
       "got 2"},
      {"log-efa-blocked",
       "NCCL WARN NET/OFI Request 0x1 (SEND) completed with error: err: 113, prov_errno: 4126, strerror: "
       "Unresponsive "
       "receiver (reachable by EFA device but handshake failed), len: 0"},
      {"log-efa-blocked",
       "libfabric:71:1708520807::efa:cq:efa_rdm_txe_handle_error():737<warn> err: 113, message: Unresponsive "
       "receiver"},
      {"log-ofi-start", "NCCL WARN NET/OFI Caught exception in plugin init: no device"},
      {"log-ofi-no-gpudirect", "NCCL WARN NET/OFI GDR disabled on GDR-supported instance type p5.48xlarge"},
      {"log-ofi-completion",
       "NCCL WARN NET/OFI fi_senddata failed; RC: -107, Error: Transport endpoint is gone"},
      {"log-ofi-endpoint",
       "create_send_comm:5500 NCCL WARN NET/OFI Unable to insert remote address into address vector for "
       "device 1."},
      {"log-host-memory", "NCCL WARN NET/OFI Unable to allocate send communicator"},
      {"log-topology-file", "NCCL WARN NET/OFI Failed to write NCCL topology file"},
      {"log-fastrak-daemon",
       "W0302 14:09:10.1 71 nccl_shim.cc:84] RxDM not ready after 12 seconds (status: UNAVAILABLE), "
       "retrying..."},
      {"log-fastrak-settings",
       "NCCL/NET (shim) mismatch recommended: NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY=/dev/aperture_devices "
       "(expected "
       "unset)"},
      {"log-sharp-port",
       "[n19:1:28576 unique id 120] ERROR collect_ports_data: device mlx5_0 port 1 is not valid (port is "
       "used by SM)"},
      {"log-collnet-off",
       "[n19:0:174 - tree_ops.c:314][2024-05-30 12:26:47] ERROR Failed to lock SAT tree(ID:0x208. ret:0x4)"},
      {"log-collnet-off",
       "sharp_plugin.c:302 NCCL WARN SHARP group create: Streaming Tree lock failed (-18)"},
      {"log-net-plugin", "net.cc:300 NCCL WARN Error: network IBX not found."},
      {"log-many-peers", "allocator.cc:79 NCCL WARN Cuda failure 711 'peer mapping resources exhausted'"},
      {"log-peer-access",
       "transport/p2p.cc:238 NCCL WARN failed to open CUDA IPC handle : 217 peer access is not supported"},
      {"log-nvlink-p2p-off",
       "graph/paths.cc:300 NCCL WARN P2P is disabled between NVLINK connected GPUs 1 and 0. This should not "
       "be the case"},
      {"log-peer-access",
       "transport/p2p.cc:300 NCCL WARN failed to peer with device 1(=3000): 217 peer access is not supported "
       "between these two devices"},
      {"log-too-many-processes", "n7: Test CUDA failure common.cu:892 'invalid device ordinal'"},
      {"log-gpus-hidden", "transport/p2p.cc:320 NCCL WARN Cuda failure 101 'invalid device ordinal'"},
      {"log-fabric-not-ready", "ggml_cuda_init: failed to initialize CUDA: system not yet initialized"},
      {"log-gpu-memory", "include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'"},
      {"log-gpu-memory", "include/alloc.h:178 NCCL WARN Failed to CUDA calloc async 4194304 bytes"},
      {"log-host-memory", "include/alloc.h:40 NCCL WARN Failed to CUDA host alloc 4194304 bytes"},
      {"log-threads",
       "include/checks.h:90 NCCL WARN Call to pthread_create failed: Resource temporarily unavailable"},
      {"log-no-libcuda",
       "misc/cudawrap.cc:179 NCCL WARN Failed to find CUDA library libcuda.so (NCCL_CUDA_PATH='') : "
       "libcuda.so: cannot open"},
      {"log-driver-old",
       "enqueue.cc:106 NCCL WARN Cuda failure 'API call is not supported in the installed CUDA driver'"},
      {"log-gpu-unsupported", "enqueue.cc:1500 NCCL WARN Cuda failure 98 'invalid device function'"},
      {"log-gpu-failed",
       "transport/net.cc:900 NCCL WARN Cuda failure 214 'uncorrectable ECC error encountered'"},
      {"log-cuda-earlier",
       "enqueue.cc:1400 NCCL WARN Cuda failure 700 'an illegal memory access was encountered'"},
      {"log-topology-file", "graph/xml.h:101 NCCL WARN Attribute busid of node nic not found"},
      {"log-topology-incomplete",
       "graph/search.cc:900 NCCL WARN Could not find a path for pattern 4, falling back to simple order"},
      {"log-nvml", "misc/nvmlwrap.cc:200 NCCL WARN nvmlInit_v2() failed: Driver/library version mismatch"},
      {"log-gdrcopy", "misc/gdrwrap.cc:150 NCCL WARN gdr_map(handle 7f00, size 65536) failed: 22"},
      {"log-no-algorithm",
       "enqueue.cc:1800 NCCL WARN Error : no algorithm/protocol available for function Broadcast with "
       "datatype ncclInt8. NCCL_ALGO was set to Tree."},
      {"log-collnet-off",
       "transport.cc:500 NCCL WARN Cannot initialize CollNet, using point-to-point network instead"},
      {"log-setting-invalid",
       "enqueue.cc:100 NCCL WARN 'NCCL_WORK_FIFO_DEPTH=3' is too small. Minimum value is 1024"},
      {"log-call-invalid", "misc/argcheck.cc:40 NCCL WARN AllReduce : sendbuff argument is NULL"},
      {"log-one-sided-unsupported", "gin/gin_host.cc:100 NCCL WARN No GIN-capable devices found."},
      {"log-suspend-failed", "mem_manager.cc:400 NCCL WARN MemManager: Barrier failed during resume"},
      {"log-peer-ended",
       "misc/socket.cc:60 NCCL WARN socketProgress: Connection closed by remote peer n7<4000>"},
      {"log-peer-ended",
       "proxy.cc:1500 NCCL WARN [Service thread] Error encountered progressing operation=Connect, res=3, "
       "closing connection"},
      {"log-job-failed",
       "n7: Test NCCL failure common.cu:961 'internal error - please report this issue to the NCCL "
       "developers / '"},
      {"log-watchdog-stuck",
       "[rank3]:[F626 06:24:44.9 ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0 Rank 3] ProcessGroupNCCL's "
       "watchdog got stuck "
       "for 480 seconds without making progress"},
      {"log-cause-unknown", "proxy.cc:300 NCCL WARN Proxy append mismatch"},
      {"log-unknown-warning", "net_quantum.cc:300 NCCL WARN The quantum link of peer 3 has lost coherence"},
  };
  return all;
}

TEST(NcclMessages, ALineOfEachBlockIsFoundAsThatAndNothingElse) {
  std::vector<std::string> codes;
  for (const auto& [code, line] : lines()) {
    EXPECT_THAT(found_codes(diagnosed("n1:10:11 [0] " + line + "\n")), ElementsAre(code)) << line;
    codes.push_back(code);
  }
  for (const DoctorCheck& check : log_message_checks()) EXPECT_THAT(codes, Contains(std::string(check.code)));
}

/// What NCCL says while all is well, or while it waits.
TEST(NcclMessages, WhatIsNoneIsNotTakenForOne) {
  for (const char* line : {
           "NCCL INFO Call to connect returned Connection refused, retrying",
           "NCCL INFO socketPollConnect: connect returned Connection refused, retrying (3/34) after sleep "
           "for 300 msec",
           "NCCL INFO NET/IB : mlx5_0:1 Got async event : port active",
           "NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 4 nics)",
           "NCCL INFO NET/OFI Selected provider is efa;ofi_rxr, fabric is EFA (found 4 nics)",
           "srun: error: n17: tasks 0-7: Terminated",
           "srun: error: n18: task 11: Exited with exit code 1",
           "1048576 262144 float sum -1 101.7 10.3 19.3 0 102.1 10.3 19.3 N/A",
           "8 2 float sum 19.9 0.00 0.00 2e-07 18.9 0.00 0.00 2e-07",
           "exitcode  : 1 (pid: 4004)",
           "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
       })
    EXPECT_EQ(code_of(line), "") << line;
}

/// What was looked at and is well is no warning, and what could not be looked at is none.
TEST(NcclMessages, DiagnosticsAreReadByTheirTags) {
  const Diagnosis well = diagnosed(
      "n1:10 NCCL DIAG === NCCL Diagnostics ===\n"
      "n1:10 NCCL DIAG [OK]   NCCL environment: consistent across 16 ranks in comm 0x77\n"
      "n1:10 NCCL DIAG [INFO] ECC: diagnostics incomplete, gathered 15/16 ranks in comm 0x77\n"
      "n1:10 NCCL DIAG NCCL diagnostics completed in 245.3 ms across 8 ranks\n");
  EXPECT_THAT(found_codes(well), IsEmpty());
  EXPECT_THAT(found_codes(diagnosed("NCCL DIAG [INFO] the flux is out of phase on rank(s) {1}\n")),
              ElementsAre("log-unknown-warning"));
}

TEST(NcclMessages, EachBlockOfTheTableIsWhole) {
  EXPECT_GT(log_message_checks().size(), 40U);
  for (const DoctorCheck& check : log_message_checks()) {
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

/// A log clears only where the wordings of its version are known.
TEST(NcclMessages, OnlyAKnownVersionClears) {
  const auto healthy = [](const std::string& version) {
    const Diagnosis diagnosis = diagnosed(
        "n1:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 1 - Init COMPLETE\n" + version);
    return std::count_if(diagnosis.healthy.begin(), diagnosis.healthy.end(),
                         [](const DoctorCheck& check) { return check.by_wording; });
  };
  EXPECT_GT(healthy("NCCL version 2.18.3+cuda12.2\n"), 40);
  EXPECT_GT(healthy("NCCL version 2.31.2+cuda13.0\n"), 40);
  for (const char* version : {"", "NCCL version 2.17.1+cuda12.0\n", "NCCL version 2.32.3+cuda13.0\n"})
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

}  // namespace
}  // namespace collbench::topology::nccl_messages_test
