#pragma once
#include <string>
#include <vector>

#include "tools/nccl_plan/plan/nccl_debug_log.hpp"

// What the ranks of a small job write with NCCL_DEBUG=INFO.

namespace collbench::analysis {

/// One line of NCCL's.
inline std::string info(const std::string& text) { return "node0:11:12 [0] NCCL INFO " + text + "\n"; }

/// Two nodes of two GPUs and two NICs, two channels and their copies: what rank 0 writes (format of 2.30.7).
inline std::string log_of_rank_0() {
  return info("NCCL version 2.30.7+cuda12.9") + info("NCCL git version HEAD a5187fa2e") +
         info("Using network IB") +
         info(
             "[Rank 0] ncclCommInitRank comm 0x7f rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId f000 commId 0xb "
             "- "
             "Init START") +
         info("ncclTopoPopulateNics : Filled mlx5_0 in topo with pciPath=/sys/a keep=1 coll=(null)") +
         info("ncclTopoPopulateNics : Filled mlx5_3 in topo with pciPath=/sys/b keep=1 coll=(null)") +
         info("GPU/0-f000 :GPU/0-f000 (0/5000.0/LOC) GPU/0-2d000 (2/370.8/NVL)") +
         info("Pattern 4, crossNic 2, nChannels 2, bw 48.000000/24.000000, type NVL/PIX, sameChannels 0") +
         info(" 0 : NET/0-0 GPU/0-f000 GPU/0-2d000 NET/0-1") +
         info(" 1 : NET/0-1 GPU/0-2d000 GPU/0-f000 NET/0-0") +
         info("Pattern 3, crossNic 0, nChannels 2, bw 48.000000/48.000000, type NVL/PXB, sameChannels 0") +
         info(" 0 : NET/0-0 GPU/0-f000 GPU/0-2d000 NET/0-0") +
         info(" 1 : NET/0-1 GPU/0-2d000 GPU/0-f000 NET/0-1") +
         info("Pattern 5, crossNic 0, nChannels 2, bw 40.000000/48.000000, type NVL/PIX, sameChannels 0") +
         info(" 0 : NET/0-0 GPU/0-f000 NET/0-0") + info(" 1 : NET/0-1 GPU/0-2d000 NET/0-1") +
         info("NVLS Head  0:  0  2") + info("NVLS Head  1:  1  3") +
         info("NVLS Trees : 9/2/-1->0->-1 9/-1/-1->0->2") + info("Channel 00/04 :  0  1  3  2") +
         info("Ring 00 : 2 -> 0 -> 1") + info("Ring 01 : 1 -> 0 -> 2") +
         info("Trees [0] 1/2/-1->0->-1 [1] 1/-1/-1->0->2 ") +
         info(
             "  Algorithm   |                            Tree                  |                            "
             "Ring "
             "                 |") +
         info(
             "  Protocol    |             LL |          LL128 |         Simple |             LL |          "
             "LL128 |         Simple |") +
         info(
             "    AllReduce |    25.2/  16.6 |    48.5/ 124.8 |    92.4/ 140.8 |    40.0/  20.8 |     0.0/   "
             "0.0 |   131.6/ 204.8 |") +
         info(
             "2 coll channels, 2 collnet channels, 16 nvls channels, 8 p2p channels, 4 p2p channels per "
             "peer") +
         info("Channel 00/0 : 2[0] -> 0[0] [receive] via NET/IB/1/GDRDMA") +
         info("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM") +
         info("Channel 01/0 : 0[0] -> 2[0] [send] via NET/IB/1(1)/GDRDMA") +
         info("Channel 01/1 : 0[0] -> 2[0] [send] via NET/IB/0/GDRDMA") +
         info("AllReduce: 1024 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0}") +
         info("AllReduce: 1073741824 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={0..15}") +
         "\n[2026-11-23 00:10:53] node0:11:12 [0] init.cc:904 NCCL WARN Something is odd \n";
}

/// What the other ranks add.
inline std::vector<NcclRankLog> all_logs() {
  const std::string graph =
      info("Pattern 4, crossNic 2, nChannels 2, bw 48.000000/24.000000, type NVL/PIX, sameChannels 0") +
      info(" 0 : NET/0-a GPU/0-f000 GPU/0-2d000 NET/0-1");
  return {
      read_nccl_rank_log(log_of_rank_0()),
      read_nccl_rank_log(info("ncclCommInitRank comm 0x7f rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 2d000 "
                              "commId 0xb - Init START") +
                         info("Ring 00 : 0 -> 1 -> 3") + info("Ring 01 : 3 -> 1 -> 0") +
                         info("Trees [0] -1/-1/-1->1->0 [1] -1/-1/-1->1->0 ")),
      read_nccl_rank_log(info("ncclCommInitRank comm 0x7f rank 2 nranks 4 cudaDev 0 nvmlDev 0 busId f000 "
                              "commId 0xb - Init START") +
                         graph + info("Ring 00 : 3 -> 2 -> 0") + info("Ring 01 : 0 -> 2 -> 3") +
                         info("Trees [0] 3/-1/-1->2->0 [1] 3/0/-1->2->-1 ") +
                         info("Channel 01/0 : 0[0] -> 2[0] [receive] via NET/IB/0") +
                         info("Channel 00/0 : 2[0] -> 0[0] [send] via NET/IB/0/GDRDMA/Shared")),
      read_nccl_rank_log(info("ncclCommInitRank comm 0x7f rank 3 nranks 4 cudaDev 1 nvmlDev 1 busId 2d000 "
                              "commId 0xb - Init START") +
                         info("Ring 00 : 1 -> 3 -> 2") + info("Ring 01 : 2 -> 3 -> 1") +
                         info("Trees [0] -1/-1/-1->3->2 [1] -1/-1/-1->3->2 "))};
}

}  // namespace collbench::analysis
