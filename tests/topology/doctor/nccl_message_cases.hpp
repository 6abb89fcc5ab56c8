#pragma once
#include <string>
#include <utility>
#include <vector>

namespace collbench::topology {

/// A line of each block, by versions and by who writes it; those of NCCL 2.2 to 2.17 are from published logs.
inline const std::vector<std::pair<std::string, std::string>>& lines_of_blocks() {
  static const std::vector<std::pair<std::string, std::string>> all{
      {"log-shm-removed",
       "misc/shmutils.cc:99 NCCL WARN unlink shared memory /dev/shm/nccl-Qw3xYz failed, error: No such file "
       "or directory (2)"},
      {"log-queue-pair-access",
       "transport/net_ib.cc:101 NCCL WARN NET/IB : mlx5_0:1 Got async event : local access violation work "
       "queue "
       "error"},
      {"log-queue-pair-access",
       "transport/net_ib.cc:154 NCCL WARN NET/IB : mlx5_1:1 async fatal event on QP (0x7309dc3bb338): "
       "invalid "
       "request local work queue error"},
      {"log-watchdog-ended",
       "[rank0]:[E1012 03:22:11.1 ProcessGroupNCCL.cpp:1794] [PG ID 0 PG GUID 0 Rank 0] Received a dump "
       "signal due to a "
       "collective timeout from rank 3 and we will try our best to dump the debug info."},
      {"log-watchdog-ended",
       "[rank2]:[E1012 03:22:11.1 ProcessGroupNCCL.cpp:681] [Rank 2] Some NCCL operations have failed or "
       "timed out."},
      {"log-watchdog-stuck",
       "[rank2]:[E1012 03:22:11.1 ProcessGroupNCCL.cpp:1413] [Rank 2] Heartbeat monitor timed out!"},
      {"log-cause-unknown", "n17:392:494 [2] enqueue.cc:54 NCCL WARN Cuda failure 'invalid resource handle'"},
      {"log-peer-access",
       "n17:392:494 [2] transport/p2p.cc:54 NCCL WARN Cuda failure 'invalid resource handle'"},
      {"log-peer-ended", "n17:1:2 [0] NCCL WARN Net : Call to recv from 10.0.0.1<4000> failed : Broken pipe"},
      {"log-rendezvous", "Barrier timed out. Id: [Init]Wait_for_all_tasks_to_register::0"},
      {"log-store-wait",
       "XlaRuntimeError: DEADLINE_EXCEEDED: GetKeyValue() timed out with key: devices=[0] and duration: 1m"},
      {"log-task-lost",
       "Task /job:jax_worker/task:3 has been set to ERROR in coordination service: UNAVAILABLE: heartbeat "
       "timeout"},
      {"log-open-files", "include/socket.h:311 WARN Socket creation failed : Too many open files"},
      {"log-nvml-mismatch",
       "n17:1:2 [0] misc/nvmlwrap.cc:183 NCCL WARN nvmlInit_v2() failed: Driver/library version mismatch"},
      {"log-mpi-slots", "ere are not enough slots available in the system to satisfy the 16 slots"},
      {"log-rendezvous-retry",
       "[W socket.cpp:601] [c10d] The client socket has failed to connect to [n17]:29500 (errno: 113 - No "
       "route to "
       "host)."},
      {"log-rendezvous-retry",
       "[W1001 10:00:00.1 TCPStore.cpp:343] [c10d] TCP client failed to connect/validate to host n17:29500 - "
       "retrying (try=0, timeout=600000ms, delay=63ms): Connection timed out"},
      {"log-rendezvous",
       "[E socket.cpp:957] [c10d] The client socket has timed out after 600s while trying to connect to "
       "(n17, 29500)."},
      {"log-rendezvous", "RuntimeError: Timed out after 1801 seconds waiting for clients. 1/4 clients"},
      {"log-rendezvous",
       "DistStoreError: Timed out after 61 seconds waiting for workers. 1/2 workers joined."},
      {"log-store-timeout",
       "[W228 18:45:15.741177013 socket.cpp:487] [c10d] waitForInput: socket SocketImpl(fd=11, "
       "addr=[n17]:38674, "
       "remote=[n18]:23456) timed out after 900000ms"},
      {"log-unknown-warning", "[E1001 10:00:00.1 socket.cpp:99] [c10d] a sentence of a version to come"},
      {"log-nvml-hidden",
       "n17:6896:7103 [1] misc/nvmlwrap.cc:187 NCCL WARN nvmlDeviceGetHandleByPciBusId() failed: Not Found"},
      {"log-nvml-unsupported",
       "n17:4255:4512 [0] misc/nvmlwrap.cc:147 NCCL WARN "
       "nvmlDeviceGetP2PStatus(0,0,NVML_P2P_CAPS_INDEX_READ) failed: "
       "Not Supported"},
      {"log-nvml-denied",
       "n17:1:2 [0] misc/nvmlwrap.cc:187 NCCL WARN nvmlDeviceGetHandleByIndex(0) failed: Insufficient "
       "Permissions"},
      {"log-gpu-gone",
       "n17:1:2 [0] misc/nvmlwrap.cc:187 NCCL WARN nvmlDeviceGetIndex(0) failed: GPU is lost"},
      {"log-nvml", "n17:1:2 [0] misc/nvmlwrap.cc:187 NCCL WARN nvmlDeviceGetIndex(0) failed: Unknown Error"},
      {"log-address-unusable",
       "n17:275975:275975 [0] misc/socket.cc:379 NCCL WARN Call to bind failed : Cannot assign requested "
       "address"},
      {"log-ports-exhausted",
       "n17:1:2 [0] misc/socket.cc:379 NCCL WARN Call to connect to 10.0.0.1<4000> failed : Cannot assign "
       "requested "
       "address"},
      {"log-ranks-disagree",
       "transport/net_socket.cc:424 NCCL WARN NET/Socket : peer 10.0.0.1<59210> message truncated :"},
      {"log-name-unknown", "socket.gaierror: job-master-0: Name does not resolve"},
      {"log-exit-within-nccl",
       "n17:1:2 [0] include/alloc.h:243 NCCL WARN Cuda failure 'driver shutting down'"},
      {"log-exit-within-nccl",
       "n17:1:2 [0] include/alloc.h:243 NCCL WARN Cuda failure 4 'driver shutting down'"},
      {"log-peer-ended",
       "2023-08-25 11:06:39.330561: E xla/service/gpu/nccl_utils.cc:191] Aborting communicator: 0x5 due to "
       "async NCCL "
       "error: remote process exited or there was a network error"},
      {"log-nvlink-failed",
       "  what():  CUDA error: uncorrectable NVLink error detected during the execution"},
      {"log-nvlink-failed", "n17:1:2 [0] NCCL WARN Cuda failure 220 'uncorrectable NVLink error detected'"},
      {"log-mpi-cma", "[n17:00026] Read -1, expected 36864, errno = 1"},
      {"log-network-table", "[ 7.1] neighbour: arp_cache: neighbour table overflow!"},
      {"log-watchdog-ended",
       "[rank7]:[F1012 03:22:11.1 ProcessGroupNCCL.cpp:1557] [Rank 7] Terminating the process after "
       "attempting to dump "
       "debug info, due to collective timeout or exception."},
      {"log-network-table", "Neighbour table overflow."},
      {"log-peer-access",
       "n17:1:2 [0] include/alloc.h:54 NCCL WARN Cuda failure 400 'invalid resource handle'"},
      {"log-cause-unknown", "n17:1:2 [0] init.cc:54 NCCL WARN Cuda failure 801 'NVLink not supported'"},
      {"log-bridge-virtual", "NCCL INFO + PCI[0.2] - PCI/0-65000 (104c823200000000)"},
      {"log-collectives-differ",
       "error msg: Culprit rank 22; Error type: SIZE_OR_SYNTAX_MISMATCH, Expected input sizes: '[[1025]]' "
       "does "
       "not match"},
      {"log-call-interrupted",
       "misc/socket.cc:443 NCCL WARN socketTryAccept: Accept failed: Interrupted system call"},
      {"log-service-failed",
       "Job for nvidia-fabricmanager.service failed because the control process exited with error code."},
      {"log-service-failed", "× nvidia-fabricmanager.service - NVIDIA fabric manager service"},
      {"log-crash-in-nccl", " 5 0x0000000000122927 rasMsgHandlePeersUpdate()  /opt/nccl/src/ras/peers.cc:0"},
      {"log-unknown-error",
       "[1624426315.71] [n18:9197 :0] reduce_scatter_knomial.c:151  TL_UCP ERROR failed to perform dt "
       "reduction"},
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
      {"log-daemon-lost", "PRTE has lost communication with a remote daemon."},
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
      {"log-diagnostics-differ",
       "NCCL DIAG [INFO] NVLink: link-count mismatch across 16 ranks in comm 0x77, rank(s) {5} differ from "
       "rank 0 (18)"},
      {"log-diagnostics-differ",
       "NCCL DIAG [INFO] Net device mlx5_7:1: reported on only 1 of 2 nodes in comm 0x77 (device may be "
       "missing on some nodes)"},
      {"log-diagnostics-differ",
       "NCCL DIAG [INFO] Net device mlx5_7:1: reported on only 1 of 2 nodes in comm 0x77 (device may be "
       "missing on some nodes) (some port attributes unavailable)"},
      {"log-diagnostics-risk", "NCCL DIAG [INFO] rdma_topo check: failed on rank(s) {3} in comm 0x77"},
      {"log-diagnostics-risk",
       "NCCL DIAG [INFO] Xid 31 detected 2 times on host n17. A pre-Ampere GPU was detected, see the NVIDIA "
       "Xid documentation: https://docs.nvidia.com/"},
      {"log-diagnostics-gpu",
       "NCCL DIAG [INFO] NVLink: inconsistent link speeds on rank(s) {5} across 16 ranks in comm 0x77"},
      {"log-diagnostics-gpu",
       "NCCL DIAG [INFO] Xid 79 detected 1 time on host n17. For the recommended response, see the NVIDIA "
       "Xid documentation: https://docs.nvidia.com/"},
      {"log-diagnostics-risk",
       "NCCL DIAG [INFO] Xid 31 detected 2 times on host n17. Restart the affected application. For "
       "guidance, see the NVIDIA Xid documentation: https://docs.nvidia.com/"},
      {"log-diagnostics-risk",
       "NCCL DIAG [INFO] IOMMU mode: enabled (DMA remapping) for 9 relevant device(s) across 8/8 ranks in "
       "comm 0x77"},
      {"log-diagnostics-risk",
       "NCCL DIAG [INFO] ECC: corrected volatile errors at or above threshold 100 on rank(s) {5} (worst=140) "
       "across 16 ranks in comm 0x77"},
      {"log-diagnostics-network",
       "NCCL DIAG [INFO] net bw: same-nic rank 5 (n17): 190.4 Gbit/s, >30% off median 388.4 Gbit/s in comm "
       "0x77"},
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
      {"log-imex-denied",
       "x.CuError: (800, 'Call to cuMemCreate(&handle, bytes, &prop, 0 ) failed./x.cc:7 (Cu failure: "
       "operation "
       "not permitted)')"},
      {"log-imex-denied",
       "[CUDA_ERROR_NOT_PERMITTED] operation not permitted in expression cuMemCreate(&h, 1)"},
      {"log-imex-denied", "RuntimeError: CUDA driver error: operation not permitted"},
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
      {"log-collectives-differ",
       "init.cc:1200 NCCL WARN Mismatched collective detected, please check your calls at and around rank "
       "3."},
      {"log-nvls-memory",
       "transport/nvls.cc:200 NCCL WARN Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 "
       ": "
       "CUDA error 2 'out of memory'."},
      {"log-topology-file", "graph/xml.h:90 NCCL WARN Error : too many XML subnodes (max 640)"},
      {"log-topology-nodes", "graph/xml.h:100 NCCL WARN Error : too many XML nodes (max 256)"},
      {"log-peer-gone",
       "process_err_completion:1562 NCCL WARN NET/OFI Request 0x1 completed with error. RC: 5. Error: "
       "Invalid "
       "receiver queue pair number (QPN) My EFA addr: a Peer EFA addr: b. Completed length: 0"},
      {"log-locked-memory",
       "ib_log.c:246  UCX  ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory. Please set max "
       "locked "
       "memory (ulimit -l) to 'unlimited' (current: 64 kbytes)"},
      {"log-locked-memory", "ibv_create_cq(cqe=4096) failed: Cannot allocate memory"},
      {"log-libnccl-old", "ImportError: /opt/lib/libtorch_cuda.so: undefined symbol: ncclAlltoAll"},
      {"log-gloo-connect",
       "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] "
       "no "
       "error"},
      {"log-imex-config",
       "[Jan 02 2026 03:04:05] [ERROR] [tid 39] No matching network interface found for any IP addresses in "
       "the "
       "node configuration file"},
      {"log-gpu-twice",
       "init.cc:900 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 2000"},
      {"log-gpu-twice",
       "init.cc:900 NCCL WARN Multiple Ranks are using the same GPU/Partition. Set "
       "NCCL_MULTI_RANK_GPU_ENABLE=1 to enable"},
      {"log-completion-error",
       "NET/IBP:Got completion from peer 10.0.0.2<4000> with status=12 opcode=7 len=8 vendor err 129 (Send)"},
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
      {"log-efa-registration",
       "libfabric:71:1708520807::efa:mr:efa_mr_reg():600<warn> Unable to register MR: Bad address"},
      {"log-ofi-memory-limit",
       "register_mr:300 NCCL WARN NET/OFI Unable to register memory (type = 1) for device 3. RC: 12, Error: "
       "Cannot "
       "allocate memory"},
      {"log-ofi-memory-limit",
       "libfabric:71:1708520807::efa:mr:efa_mr_reg():600<warn> Unable to register MR: Cannot allocate "
       "memory"},
      {"log-tcpx-waiting",
       "tcpxResult_t tcpxCommProgress(tcpxComm*):1200 NCCL WARN 0x7:0x8, nic 0, eth1, "
       "10.0.0.1<40><-10.0.0.2<41> rx "
       "rx ctrl timeout cnt 7000000, nanos 10000000001"},
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
      {"log-peers-apart", "Device=0 CANNOT Access Peer Device=1"},
      {"log-nvlink-p2p-off",
       "graph/paths.cc:300 NCCL WARN P2P is disabled between NVLINK connected GPUs 1 and 0. This should not "
       "be the case"},
      {"log-peer-access",
       "transport/p2p.cc:300 NCCL WARN failed to peer with device 1(=3000): 217 peer access is not supported "
       "between these two devices"},
      {"log-peer-access", "transport/p2p.cc:250 NCCL WARN hipIpcGetMemHandle failed : invalid argument"},
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
      {"log-graph-file", "graph/search.cc:700 NCCL WARN XML Import Channel : dev 3 not found."},
      {"log-topology-incomplete",
       "graph/search.cc:900 NCCL WARN Could not find a path for pattern 4, falling back to simple order"},
      {"log-nvml-mismatch",
       "misc/nvmlwrap.cc:200 NCCL WARN nvmlInit_v2() failed: Driver/library version mismatch"},
      {"log-gdrcopy", "misc/gdrwrap.cc:150 NCCL WARN gdr_map(handle 7f00, size 65536) failed: 22"},
      {"log-no-algorithm",
       "enqueue.cc:1800 NCCL WARN Error : no algorithm/protocol available for function Broadcast with "
       "datatype ncclInt8. NCCL_ALGO was set to Tree."},
      {"log-collnet-off",
       "transport.cc:500 NCCL WARN Cannot initialize CollNet, using point-to-point network instead"},
      {"log-setting-invalid",
       "enqueue.cc:100 NCCL WARN 'NCCL_WORK_FIFO_DEPTH=3' is too small. Minimum value is 1024"},
      {"log-symmetric-space",
       "allocator.cc:200 NCCL WARN Allocation failed. No suitable space found to accommodate size=0x200 "
       "within "
       "limit=0x100"},
      {"log-rccl-advice",
       "init.cc:200 NCCL WARN Missing \"iommu=pt\" from kernel command line which can lead to system "
       "instablity"},
      {"log-call-invalid", "misc/argcheck.cc:40 NCCL WARN AllReduce : sendbuff argument is NULL"},
      {"log-one-sided-unsupported", "gin/gin_host.cc:100 NCCL WARN No GIN-capable devices found."},
      {"log-suspend-failed", "mem_manager.cc:400 NCCL WARN MemManager: Barrier failed during resume"},
      {"log-peer-ended",
       "misc/socket.cc:60 NCCL WARN socketProgress: Connection closed by remote peer n7<4000>"},
      {"log-peer-ended",
       "proxy.cc:1500 NCCL WARN [Service thread] Error encountered progressing operation=Connect, res=3, "
       "closing connection"},
      {"log-error-trace", "NCCL INFO init.cc:1300 -> 2"},
      {"log-error-trace", "NCCL INFO group.cc:64 -> 6 [Async thread]"},
      {"log-error-trace", "NCCL INFO nccl/src/dev_runtime.cc:600 (symMemoryObtain) -> 3"},
      {"log-job-failed", "RuntimeError: NCCL communicator was aborted on rank 3."},
      {"log-job-failed",
       "n7: Test NCCL failure common.cu:961 'internal error - please report this issue to the NCCL "
       "developers / '"},
      {"log-watchdog-stuck",
       "[rank3]:[F626 06:24:44.9 ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0 Rank 3] ProcessGroupNCCL's "
       "watchdog got stuck "
       "for 480 seconds without making progress"},
      {"log-cause-unknown", "proxy.cc:300 NCCL WARN Proxy append mismatch"},
      {"log-task-failed", "srun: error: n18: task 11: Exited with exit code 1"},
      {"log-task-killed", "srun: error: n18: task 11: Killed"},
      {"log-step-canceled", "slurmstepd: error: *** STEP 138.0 ON cn03 CANCELLED AT 2024-04-18T13:05:02 ***"},
      {"log-nvml-fails", "nvidia-container-cli: detection error: nvml error: unknown error"},
      {"log-gpu-monitoring",
       "Error: unable to establish a connection: Host engine connection invalid/disconnected"},
      {"log-gpu-plugin",
       "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu"},
      {"log-slurm-gres", "slurmd[57]: fatal: gres.conf duplicate records for gpu"},
      {"log-slurm-gres", "Reason=gres/gpu count reported lower than configured (7 < 8)"},
      {"log-rdma-not-loaded",
       "Fatal error:  device '*': sys files not found (/sys/class/infiniband/*/ports)"},
      {"log-psm", "n4.9 PSM3 can't open nic unit: 0 (err=23)"},
      {"log-pin-refused", "gdrdrv:nvidia_p2p_get_pages(va=7f00 len=65536) failed [ret = -22]"},
      {"log-communicator-busy",
       "init.cc:303 NCCL WARN Attempt to use communicator before the previous operation returned "
       "ncclSuccess"},
      {"log-invalid-usage",
       "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:825, invalid usage, NCCL version 2.7.8"},
      {"log-memory-registration",
       "misc/ibvwrap.cc:183 NCCL WARN Call to ibv_reg_dmabuf_mr failed with error Cannot allocate memory"},
      {"log-store-wait",
       "[3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by "
       "key '0', but "
       "store->get('0') got error: Socket Timeout"},
      {"log-rendezvous",
       "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 1/2 clients "
       "joined."},
      {"log-rendezvous",
       "torch.distributed.DistNetworkError: The client socket has timed out after 60000ms while trying to "
       "connect to (n1, "
       "29500)."},
      {"log-rendezvous-port",
       "RuntimeError: The server socket has failed to listen on any local network address. The server socket "
       "has failed to "
       "bind to [::]:29500 (errno: 98 - Address already in use)."},
      {"log-container-start",
       "slurmstepd: error: pyxis:     mkdir: cannot create directory '/run/x': Permission denied"},
      {"log-container-start", "[ERROR] Could not acquire rootfs lock"},
      {"log-container-start", "enroot-switchroot: failed to execute: /bin/sh: No such file or directory"},
      {"log-container-start",
       "docker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]]."},
      {"log-no-driver-library", "Failed to initialize NVML: could not load NVML library."},
      {"log-gpu-memory", "NCCL WARN HIP failure 'out of memory'"},
      {"log-amd-no-gpu", "NCCL WARN HIP failure 'no ROCm-capable device is detected'"},
      {"log-ofi-option", "NCCL WARN NET/OFI Disabling shared memory failed: Protocol not available"},
      {"log-rccl-msccl", "NCCL WARN MSCCL: threadblock 7 on GPU 3 has an invalid channel 9"},
      {"log-rccl-runtime", "misc/alt_rsmi.cc:7 NCCL WARN Could not read node # 7"},
      {"log-sharp-call", "NCCL WARN SHARP allreduce failed"},
      {"log-ucx-plugin", "ucx_plugin.c:7 NCCL WARN Worker allocation failure"},
      {"log-communicator-void", "NCCL WARN Broadcast : invalid root 0 (root should be in the 0..-1 range)"},
      {"log-ssh", "ssh: Could not resolve hostname worker-1.job.ns.svc: Name or service not known"},
      {"log-ssh", "ssh: connect to host n4 port 22: Connection refused"},
      {"log-mpi-start", "ORTE was unable to reliably start one or more daemons."},
      {"log-launch-failed",
       "srun: error: Task launch for StepId=7.0 failed on node n4: Job credential expired"},
      {"log-program-memory", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"},
      {"log-no-gpu", "RuntimeError: No CUDA GPUs are available"},
      {"log-gpu-busy", "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable"},
      {"log-disk-full", "OSError: [Errno 28] No space left on device"},
      {"log-name-unknown", "socket.gaierror: [Errno -2] Name or service not known"},
      {"log-verbs-driver",
       "libibverbs: Warning: couldn't load driver 'libmlx5-rdmav34.so': libmlx5-rdmav34.so: cannot open "
       "shared object file"},
      {"log-ucx-device",
       "UCX  WARN  network device 'mlx5_0:1' is not available, please use one or more of: 'eth0'(tcp)"},
      {"log-ucx-worker", "pml_ucx.c:291  Error: Failed to create UCP worker"},
      {"log-slurm-request",
       "srun: error: Unable to create step for job 77: Requested node configuration is not available"},
      {"log-pod-pending",
       "Warning  FailedScheduling  0/16 nodes are available: 16 Insufficient nvidia.com/gpu."},
      {"log-image-pull", "Failed to pull image \"x/y:24.05\": rpc error: code = NotFound"},
      {"log-library-missing",
       "all_reduce_perf: error while loading shared libraries: libmpi.so.40: cannot open shared object file: "
       "No such file"},
      {"log-python-library",
       "OSError: libcuda.so.1: cannot open shared object file: No such file or directory"},
      {"log-rendezvous-over", "torch.distributed.elastic.rendezvous.api.RendezvousClosedError"},
      {"log-port-taken", "OSError: [Errno 98] Address already in use"},
      {"log-cpu-hot",
       "[ 9.5] CPU12: Core temperature is above threshold, cpu clock is throttled (total events = 1)"},
      {"log-ucx-device",
       "UCX  WARN  network devices 'mlx5_0:1','mlx5_1:1' are not available, please use one or more of: "
       "'eth0'(tcp)"},
      {"log-python-library",
       "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory"},
      {"log-command-missing", "bash: line 1: mpirun: command not found"},
      {"log-file-system", "[ 1234.5] nfs: server filer1 not responding, still trying"},
      {"log-kernel-stall", "[ 1234.5] watchdog: BUG: soft lockup - CPU#12 stuck for 22s! [python:1234]"},
      {"log-memory-uncorrected",
       "[ 1234.5] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0"},
      {"log-disk-failing", "[ 1234.5] nvme nvme0: I/O 12 QID 3 timeout, aborting"},
      {"log-cpu-hot",
       "[ 1234.5] CPU12: Package temperature above threshold, cpu clock throttled (total events = 12)"},
      {"log-gdrdrv", "gdr_open error: Is gdrdrv driver installed and loaded?"},
      {"log-mpi-program", "mpirun was unable to launch the specified application as it could not access"},
      {"log-mpi-slots", "There are not enough slots available in the system to satisfy the 16"},
      {"log-pmix", "pmix_psec_base_open failed"},
      {"log-pmix-munge", "  Component: munge"},
      {"log-ray-node-lost",
       "The node with node id 7 has been marked dead because the detector has missed too many heartbeats "
       "from it."},
      {"log-rendezvous", "RPC: /tensorflow.CoordinationService/RegisterTask"},
      {"log-ucx-registration",
       "[171.2] [n4:7:0] ib_md.c:349  UCX  ERROR ibv_reg_mr(address=0x7, length=8, access=0xf) failed: Bad "
       "address"},
      {"log-ucx-timeout", "[n4:9:0] ud_iface.c:781  Fatal: transport error: Endpoint timeout"},
      {"log-uar-space",
       "ib_mlx5.c:600 UCX  ERROR no UAR. Consider increasing PF_LOG_BAR_SIZE using mlxconfig tool (requires "
       "reboot)"},
      {"log-peermem-load", "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument"},
      {"log-driver-load", "modprobe: ERROR: could not insert 'nvidia': No such device"},
      {"log-no-nvswitch",
       "nv-fabricmanager[9]: request to query NVSwitch device information from NVSwitch driver failed with "
       "error:WARNING "
       "Nothing to do [NV_WARN_NOTHING_TO_DO]"},
      {"log-fabric-manager-start", "Unknown option: /usr/share/nvidia/nvswitch/fabricmanager.cfg"},
      {"log-fabric-manager-start",
       "fabric manager config file item: FABRIC_NODE_CONFIG_FILE has an invalid value"},
      {"log-crash-in-nccl", "PC: @     0x7f00 (unknown) ncclLaunchPrepare()"},
      {"log-crash-in-nccl", "[n4:77] [ 1] /usr/lib/x86_64-linux-gnu/libnccl.so.2(+0x5d0)[0x7f00]"},
      {"log-collectives-differ",
       "RuntimeError: Detected mismatch between collectives on ranks. Rank 2 is running collective: "
       "CollectiveFingerPrint(SequenceNumber=32, OpType=ALLREDUCE), but Rank 3 is running collective: "
       "CollectiveFingerPrint(SequenceNumber=0, OpType=GATHER)"},
      {"log-collectives-differ",
       "init.cc:1247 NCCL WARN Mismatched collective detected, please check your collective calls at and "
       "around rank 39"},
      {"log-graph-file-set", "n4:7:9 [0] NCCL INFO NCCL_GRAPH_FILE set by environment to /opt/x/graph.xml"},
      {"log-cuda-earlier", "transport/nvls.cc:246 NCCL WARN Cuda failure 3 'initialization error'"},
      {"log-bus-error",
       "subprocess.CalledProcessError: Command '['python3', 'train.py']' died with <Signals.SIGBUS: 7>."},
      {"log-process-crashed", "*** SIGSEGV received at time=1742915847 on cpu 12 ***"},
      {"log-process-killed",
       "[2026-08-21 10:11:12,345] [ERROR] [launch.py:321:sigkill_handler] ['python', '-u', 'train.py'] exits "
       "with return code = -9"},
      {"log-process-aborted", "terminate called after throwing an instance of 'c10::Error'"},
      {"log-process-aborted", "double free or corruption (!prev)"},
      {"log-oom-killed", "4 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed"},
      {"log-job-canceled",
       "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got signal: 2"},
      {"log-task-failed", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"},
      {"log-ssh", "pdsh@n1: n2: ssh exited with exit code 255"},
      {"log-ssh",
       "subprocess.CalledProcessError: Command 'ssh -o PasswordAuthentication=no n2 hostname' returned "
       "non-zero exit status 255."},
      {"log-cuda-earlier",
       "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access "
       "was encountered"},
      {"log-gpu-failed", "INTERNAL: CUDA_ERROR_ECC_UNCORRECTABLE"},
      {"log-gpu-unsupported",
       "UserWarning: NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current "
       "PyTorch installation."},
      {"log-driver-old", "RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."},
      {"log-fabric-not-ready", "failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY"},
      {"log-peer-access", "RuntimeError: CUDA error: peer access is not supported between these two devices"},
      {"log-peer-access", "RuntimeError: Can't enable access between nodes 1 and 0"},
      {"log-too-many-processes",
       "[TensorRT-LLM][ERROR] CUDA runtime error in cudaSetDevice(rank): invalid device ordinal"},
      {"log-program-memory",
       "[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mCudaStream->get()): out of "
       "memory"},
      {"log-host-memory",
       "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate "
       "memory"},
      {"log-collectives-differ",
       "RuntimeError: Forward order differs across ranks: rank 0 is all-gathering 1 parameters while rank 1 "
       "is not"},
      {"log-rendezvous",
       "[E socket.cpp:957] [c10d] The client socket has failed to connect to any network address of (n1, "
       "29500)."},
      {"log-mpi-program",
       "[proxy:0:0@n1] HYDU_create_process: execvp error on file ./all_reduce_perf (No such file or "
       "directory)"},
      {"log-mpi-start",
       "[mpiexec@n1] check_exit_codes: unable to run bstrap_proxy on n2 (pid 4711, exit code 65280)"},
      {"log-connection", "WARNING: Open MPI failed to TCP connect to a peer MPI process.  This"},
      {"log-no-gpu",
       "RuntimeError: Unable to initialize backend 'cuda': FAILED_PRECONDITION: CUDA_ERROR_NO_DEVICE: no "
       "CUDA-capable device is detected"},
      {"log-ray-node-lost", "The actor died because its node has died. Node Id: 7e1c"},
      {"log-driver-pair",
       "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display "
       "driver / cuda driver combination"},
      {"log-driver-pair",
       "Check failed: e == cudaSuccess (804 vs. 0) : forward compatibility was attempted on non supported "
       "HW"},
      {"log-driver-pair",
       "init.cc:300 NCCL WARN Cuda failure 803 'system has unsupported display driver / cuda driver "
       "combination'"},
      {"log-cuda-os",
       "misc/cudawrap.cc:90 NCCL WARN Cuda failure 304 'OS call failed or operation not supported on this "
       "OS'"},
      {"log-cuda-unknown", "failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error"},
      {"log-cuda-unknown", "init.cc:300 NCCL WARN Cuda failure 999 'unknown error'"},
      {"log-nvlink-access",
       "torch.AcceleratorError: CUDA error: Invalid access of peer GPU memory over nvlink or a hardware "
       "error"},
      {"log-graph-capture", "RuntimeError: CUDA error: operation not permitted when stream is capturing"},
      {"log-graph-capture",
       "RuntimeError: CUDA error: operation failed due to a previous error during capture"},
      {"log-cuda-libraries",
       "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"},
      {"log-custom-allreduce",
       "RuntimeError: Runtime check failed at /x/distributed/custom_all_reduce.cuh:37: CUDA error: invalid "
       "argument"},
      {"log-custom-allreduce-off",
       "[2026-09-13 10:02:17 TP0] Setup Custom allreduce failed with rendezvous: overlapping devices."},
      {"log-serve-memory",
       "ValueError: Free memory on device cuda:0 (12.18/23.56 GiB) on startup is less than desired GPU "
       "memory utilization (0.92, 21.67 GiB)."},
      {"log-serve-memory", "ValueError: No available memory for the cache blocks."},
      {"log-serve-memory", "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."},
      {"log-parallel-sizes",
       "ValueError: World size (16) is larger than the number of available GPUs (8) in this node."},
      {"log-parallel-sizes",
       "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (3)."},
      {"log-parallel-sizes", "AssertionError: world size (12) is not divisible by total_model_size (8)"},
      {"log-parallel-sizes", "RuntimeError: [TensorRT-LLM][ERROR] Assertion failed: mpiSize == tp * pp"},
      {"log-engine-stuck", "TimeoutError: RPC call to sample_tokens timed out."},
      {"log-engine-stuck", "[2026-01-01 10:00:00 TP0] Watchdog timeout (self.watchdog_timeout=300)"},
      {"log-engine-file",
       "[TRT] [E] The engine plan file is generated on an incompatible device, expecting compute 9.0 got "
       "compute 8.0"},
      {"log-ray-worker",
       "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."},
      {"log-ray-worker",
       "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit "
       "detail: Worker unexpectedly exits with a connection error code 2. End of file."},
      {"log-ray-store",
       "(raylet) file_system_monitor.cc:116: /tmp/ray/session_7 is over 95% full, available space: 2.03 GB; "
       "capacity: 69.9 GB. Object creation will fail if spilling is required."},
      {"log-ray-start", "RuntimeError: Version mismatch: The cluster was started with:"},
      {"log-ray-start",
       "Exception: The current node timed out during startup. This could happen because some of the raylet "
       "failed"},
      {"log-horovod-stall",
       "[W horovod/common/stall_inspector.cc:105] One or more tensors were submitted to be reduced, gathered "
       "or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds."},
      {"log-horovod-stall", "HorovodAllreduce_loss_0 [missing ranks: 0, 1, 3]"},
      {"log-task-lost",
       "W tensorflow/core/framework/op_kernel.cc:1651] OP_REQUIRES failed at mpi_ops.cc:316 : Unknown: "
       "Horovod has been shut down."},
      {"log-task-lost",
       "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer "
       "[10.0.0.7]:8594"},
      {"log-task-lost",
       "F0926 client.h:77] Terminating process because the JAX distributed service detected fatal errors."},
      {"log-task-lost", "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD"},
      {"log-task-lost", "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"},
      {"log-task-lost",
       "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"},
      {"log-task-lost", "torch.distributed.DistNetworkError: Connection reset by peer"},
      {"log-task-lost", "RuntimeError: DataLoader worker (pid(s) 4711) exited unexpectedly"},
      {"log-store-timeout",
       "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /worker/attempt_0/3"},
      {"log-gloo-timeout", "RuntimeError: Rank 0: Rank 1 failed to pass monitoredBarrier in 2000 ms"},
      {"log-gloo-timeout",
       "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting "
       "1800000ms for recv operation to complete"},
      {"log-gloo-interface",
       "RuntimeError: [enforce fail at ../third_party/gloo/gloo/transport/tcp/device.cc:83] ifa != nullptr. "
       "Unable to find interface for: [0.0.14.238]"},
      {"log-no-launcher",
       "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK "
       "expected, but not set"},
      {"log-no-launcher",
       "ValueError: Default process group has not been initialized, please make sure to call "
       "init_process_group."},
      {"log-wrong-backend", "RuntimeError: No backend type associated with device type cpu"},
      {"log-nccl-missing", "RuntimeError: Distributed package doesn't have NCCL built in"},
      {"log-nccl-missing",
       "XlaRuntimeError: INTERNAL: NCCL operation ncclGetUniqueId(&id) failed: Unable to load NCCL library. "
       "Multi-GPU collectives will not work."},
      {"log-model-differs",
       "RuntimeError: DDP expects same model across all ranks, but Rank 1 has 338 params, while rank 0 has "
       "inconsistent 0 params."},
      {"log-model-differs",
       "[rank1]: AssertionError: Rank 1 has different values for step: 8016.0. Other ranks: 7870.0"},
      {"log-ddp-unused",
       "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one."},
      {"log-not-a-number",
       "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run."},
      {"log-not-a-number",
       "AssertionError: Rank 11: found NaN in local grad norm in backward pass before data-parallel "
       "communication collective. Device: 3"},
      {"log-result-differs",
       "ERROR:megatron.core.rerun_state_machine:Rank 3, node n17, device 3, iteration #3: Possible transient "
       "error!"},
      {"log-hangup",
       "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got signal: 1"},
      {"log-op-build",
       "deepspeed.ops.op_builder.builder.MissingCUDAException: CUDA_HOME does not exist, unable to compile "
       "CUDA op(s)"},
      {"log-op-build",
       "RuntimeError: The detected CUDA version (11.8) mismatches the version that was used to compile "
       "PyTorch (12.4)."},
      {"log-build-mixed",
       "ImportError: /x/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: "
       "_ZN3c104cuda9SetDeviceEi"},
      {"log-build-mixed",
       "ImportError: /x/libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version "
       "libnvJitLink.so.12"},
      {"log-libc-old",
       "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by "
       "/x/libx.so)"},
      {"log-model-file", "Exception: expected value at line 1 column 1"},
      {"log-model-file", "_pickle.UnpicklingError: invalid load key, 'v'."},
      {"log-download", "OSError: We couldn't connect to 'https://huggingface.co' to load this file"},
      {"log-nvshmem", "/x/src/host/init/init.cu:1045: non-zero status: 7 nvshmem setup connections failed"},
      {"log-nvshmem", "NVSHMEM device library version does not match with NVSHMEM host library version"},
      {"log-ibgda",
       "WARN: cudaHostRegister with IoMemory failed with error=800. We may need to use a fallback path."},
      {"log-deepep-timeout", "RuntimeError: DeepEP error: timeout (dispatch CPU)"},
      {"log-xla-stuck",
       "E0101 rendezvous.cc:38] [id=0] This thread has been waiting for `first call` for 40 seconds and may "
       "be stuck. Expected 8 threads to join the rendezvous, but not all of them arrived on time."},
      {"log-jax-no-cuda",
       "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling "
       "back to cpu."},
      {"log-mpi-provider", "find_provider(170).........: OFI fi_getinfo() failure"},
      {"log-mpi-endpoint",
       "create_vni_context(2221).....: OFI endpoint open failed (ofi_init.c:2221:create_vni_context:Invalid "
       "argument)"},
      {"log-mpi-endpoint", "Open MPI failed an OFI Libfabric library call (fi_endpoint).  This is highly"},
      {"log-mpi-init", "  ompi_mpi_init: ompi_rte_init failed"},
      {"log-mpi-init", "[n17:430817] *** An error occurred in MPI_Init_thread"},
      {"log-mpi-init", "It looks like MPI runtime init failed for some reason; your parallel process is"},
      {"log-mpi-unreachable", "At least one pair of MPI processes are unable to reach each other for"},
      {"log-mpi-arguments", "[n17:4711] *** MPI_ERR_TRUNCATE: message truncated"},
      {"log-mpi-cuda", "The call to cuIpcOpenMemHandle failed. This is an unrecoverable error"},
      {"log-mpi-shm",
       "It appears as if there is not enough space for /dev/shm/vader_segment.n17 (the shared-memory "
       "backing"},
      {"log-mpi-tcp", "another Open MPI process but cannot find a corresponding process"},
      {"log-mpi-placement", "that would result in binding more processes than cpus on a resource:"},
      {"log-mpi-root", "mpirun has detected an attempt to run as root."},
      {"log-mpi-version", "PRTE detected a mismatch in versions between two processes.  This"},
      {"log-unknown-error", "[n4:9:0] flux.c:629  UCX  ERROR the flux of n7 is out of phase"},
      {"log-unknown-warning", "net_quantum.cc:300 NCCL WARN The quantum link of peer 3 has lost coherence"},
  };
  return all;
}

}  // namespace collbench::topology
