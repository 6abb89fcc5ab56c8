// Logs of the kinds in which people found the cause only after they had asked: lines as NCCL words them,
// names made up. The thread of each is the one that told what a careful reader says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/topology/doctor/log_check_cases.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology::asked_cases_test {
namespace {

struct AskedCase {
  std::string thread;
  std::string text;
  std::string code;  ///< the only finding
  std::string says;  ///< a part of its reason or of what to do
};

const std::vector<AskedCase>& asked_cases() {
  static const std::vector<AskedCase> all{
      {"aws-ofi-nccl#785: an older plugin's topology file",
       "[1,2]<stdout>:w3:75:95 [2] NCCL INFO NET/OFI Running on p5.48xlarge platform, Setting NCCL_TOPO_FILE "
       "environment "
       "variable to /opt/ofi/p5.48xl-topo.xml\n[1,2]<stdout>:\n"
       "[1,2]<stdout>:w3:75:95 [2] graph/xml.h:101 NCCL WARN Attribute arch of node cpu not found\n"
       "[1,2]<stdout>:w3:75:95 [2] NCCL INFO graph/topo.cc:493 -> 3\n"
       "[1,2]<stdout>:w3: Test NCCL failure common.cu:961 'internal error - please report this issue to the "
       "NCCL "
       "developers / '\n[1,2]<stdout>: .. w3 pid 75: Test failure common.cu:844\n",
       "log-topology-file", "newer aws-ofi-nccl"},
      {"aws-ofi-nccl#584: memory that the OFI plugin cannot register",
       "w3:87:87 [0] NCCL INFO Bootstrap : Using ens5:10.0.0.3<0>\nNCCL version 2.20.5+cuda12.4\n"
       "w3:87:99 [0] NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)\n"
       "w3:87:99 [0] NCCL INFO Using network AWS Libfabric\n\n"
       "w3:87:102 [0] register_mr_buffers:544 NCCL WARN NET/OFI Unable to register memory (type = 2) for "
       "device 0. RC: "
       "-22, Error: Invalid argument\nw3:87:102 [0] NCCL INFO transport/net.cc:754 -> 2\n",
       "log-ofi-memory", "FI_EFA_SET_CUDA_SYNC_MEMOPS=0"},
      {"nccl#1573: GIDs in a pod",
       "pod-c:21:24 [0] NCCL INFO NCCL version 2.22.3+cuda12.6\n"
       "pod-c:21:24 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.3<0>\n"
       "pod-c:21:24 [0] NCCL INFO Using network IB\n\n"
       "pod-c:21:26 [0] transport/net_ib.cc:311 NCCL WARN NET/IB: read failed in ncclIbRoceGetVersionNum: "
       "Invalid "
       "argument\npod-c:21:26 [0] NCCL INFO transport/net_ib.cc:412 -> 2\n",
       "log-gid-unreadable", "NCCL 2.26 or newer"},
      {"nccl#1657: a link-local GID that was set",
       "i-0:88:88 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
       "i-0:88:157 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.8<0>\n"
       "i-0:88:157 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/0\n"
       "i-0:88:159 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 0.\n"
       "i-0:88:159 [0] NCCL INFO NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 1047 mtu 5 query_ece={supported=1, "
       "vendor_id=0x15b3, options=0x0, comp_mask=0x0} GID 0 (80FE/1A8A41FEFF21A75E) fifoRkey=0x1 "
       "fifoLkey=0x1\n",
       "log-gid-link-local", "unset NCCL_IB_GID_INDEX"},
      {"sglang#3820: no route",
       "n5:24:24 [6] NCCL INFO Bootstrap : Using ens1:10.0.0.5<0>\n\n"
       "n5:24:24 [6] misc/socket.cc:533 NCCL WARN socketPollConnect: Connect to 10.0.0.4<56849> returned "
       "113(No route to "
       "host) errno 115(Operation now in progress)\nn5:24:24 [6] NCCL INFO misc/socket.cc:570 -> 2\n"
       "[2025-02-24 14:09:34 TP14] Scheduler hit an exception: Traceback (most recent call last):\n",
       "log-connection", "firewall"},
      {"NCCL user guide: systemd removes shared memory",
       "n7:42:43 [1] NCCL INFO NCCL version 2.26.2+cuda12.8\n\n"
       "n7:42:43 [1] misc/shmutils.cc:137 NCCL WARN unlink shared memory /dev/shm/nccl-d5rTd0 failed, error: "
       "No such file "
       "or directory\nn7:42:43 [1] NCCL INFO misc/shmutils.cc:139 -> 2\n",
       "log-shm-removed", "RemoveIPC=no"},
      {"nccl#955: a driver of CUDA 11.0",
       "pod-c:20:20 [0] NCCL INFO cudaDriverVersion 11000\nNCCL version 2.14.3+cuda11.7\n"
       "libibverbs: Warning: couldn't open config directory '/etc/libibverbs.d'.\n"
       "pod-c:20:29 [0] NCCL INFO NET/IB : No device found.\npod-c:20:29 [0] NCCL INFO Using network "
       "Socket\n\n"
       "pod-c:20:29 [0] enqueue.cc:106 NCCL WARN Cuda failure 'API call is not supported in the installed "
       "CUDA driver'\n"
       "pod-c:20:29 [0] NCCL INFO init.cc:1173 -> 1\n",
       "log-driver-old", "a newer driver"},
      {"nccl#1579: GH200 without GPUDirect, by choice",
       "#  Rank  0 Group  0 Pid   1501 on   gh-0 device  0 [0009:01:00] NVIDIA GH200 480GB\n"
       "#  Rank  1 Group  0 Pid   1502 on   gh-1 device  0 [0009:01:00] NVIDIA GH200 480GB\n"
       "gh-0:15:20 [0] NCCL INFO NCCL version 2.24.3+cuda12.6\n"
       "gh-0:15:20 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0\n"
       "gh-0:15:20 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0\n",
       "log-gpudirect-grace", "NCCL_NET_GDR_LEVEL=SYS"},
      {"a completion error after a healthy start",
       "n1:10:10 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
       "n1:10:10 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 busId 901000 - Init "
       "COMPLETE\n"
       "n1:10:12 [0] transport/net_ib.cc:1909 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4000> "
       "with status=12 "
       "opcode=0 len=0 vendor err 129 (Recv)\n",
       "log-completion-error", "the way to the peer"},
      {"nccl-tests#165: more processes than GPUs",
       "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20\n#\n# "
       "Using devices\n"
       "n3: Test CUDA failure common.cu:892 'invalid device ordinal'\n .. n3 pid 9972: Test failure "
       "common.cu:842\n"
       "n4: Test CUDA failure common.cu:892 'invalid device ordinal'\n .. n4 pid 9973: Test failure "
       "common.cu:842\n",
       "log-too-many-processes", "one process of a node"},
      {"PyTorch quotes NCCL without its prefix",
       "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:317, "
       "unhandled "
       "system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n"
       "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.\n"
       "Last error:\nError: failed to extend /dev/shm/nccl-XyZ to 33030532 bytes, error: No space left on "
       "device (28)\n",
       "log-shared-memory", "--shm-size"},
  };
  return all;
}

TEST(AskedCases, EachIsNamedAndNothingElseIs) {
  for (const AskedCase& each : asked_cases()) {
    const Diagnosis diagnosis = diagnose(evidence_of({{"", each.text}}));
    ASSERT_THAT(found_codes(diagnosis), testing::ElementsAre(each.code)) << each.thread;
    const DoctorFinding& finding = diagnosis.findings.front();
    EXPECT_THAT(std::string(finding.check.reason) + finding.fix, testing::HasSubstr(each.says))
        << each.thread;
  }
}

}  // namespace
}  // namespace collbench::topology::asked_cases_test
