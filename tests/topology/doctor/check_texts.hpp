#pragma once
#include <string>

// What commands print on machines with a fault and on healthy ones, for the cases of the doctor's checks.

namespace collbench::topology {

/// A GPU below a switch below a root port; of the switch's port ACS is `acs`.
inline std::string lspci_switch(const std::string& acs) {
  const auto bridge = [](const std::string& address, const std::string& bus) {
    return address + " PCI bridge: PLX Technology, Inc. PEX 8747\n\tBus: primary=00, secondary=" + bus +
           ", subordinate=17, sec-latency=0\n";
  };
  return bridge("00:01.0", "01") + bridge("01:00.0", "02") + bridge("02:08.0", "17") + "\t\tACSCtl:\t" + acs +
         " EgressCtrl- DirectTrans-\n17:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n"
         "\t\tDevCtl:\tCorrErr+ NonFatalErr+\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width "
         "x16\n\t\tLnkSta:\tSpeed 32GT/s (ok), Width x16 (ok)\n";
}

inline std::string lspci_nic(const std::string& ordering, const std::string& request) {
  return "19:00.0 Infiniband controller: Mellanox Technologies MT28908 Family [ConnectX-6]\n"
         "\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq-\n\t\t\t" +
         ordering + " ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-\n\t\t\tMaxPayload 512 bytes, MaxReadReq " +
         request + " bytes\n";
}

/// A GPU below a bridge.
inline std::string lspci_gpu(const std::string& bridge, const std::string& width) {
  return "00:02.0 PCI bridge: Red Hat, Inc. QEMU PCIe Root port\n"
         "\tBus: primary=00, secondary=17, subordinate=17, sec-latency=0\n\t\tLnkCap:\tPort #0, " +
         bridge + ", ASPM not supported\n17:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n" +
         "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n" +
         "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x" + width + "\n";
}

inline std::string ibv_port(const std::string& mtu, const std::string& lid, const std::string& layer) {
  return "hca_id:\tmlx5_0\n\ttransport:\t\tInfiniBand (0)\n\t\tport:\t1\n\t\t\tstate:\t\tPORT_ACTIVE (4)\n"
         "\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t" +
         mtu + "\n\t\t\tsm_lid:\t\t\t" + lid + "\n\t\t\tlink_layer:\t\t" + layer + "\n";
}

inline std::string ibstat_card(const std::string& name, const std::string& firmware, const std::string& state,
                               const std::string& rate) {
  return "CA '" + name + "'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tFirmware version: " + firmware +
         "\n\tHardware version: 0\n\tNode GUID: 0xb83fd203002aa3" + name.substr(5) +
         "0\n\tSystem image GUID: 0xb83fd203002aa3" + name.substr(5) + "0\n\tPort 1:\n\t\tState: " + state +
         "\n\t\tPhysical state: " + (state == "Down" ? "Disabled" : "LinkUp") + "\n\t\tRate: " + rate +
         "\n\t\tBase lid: 1\n\t\tLMC: 0\n\t\tSM lid: 1\n\t\tCapability mask: 0xa651e848\n\t\tPort GUID: "
         "0xb83fd203002aa3" +
         name.substr(5) + "0\n\t\tLink layer: InfiniBand\n";
}

inline std::string three_cards(const std::string& firmware, const std::string& state,
                               const std::string& rate) {
  return ibstat_card("mlx5_10", "28.36.1010", "Active", "400") +
         ibstat_card("mlx5_11", "28.36.1010", "Active", "400") +
         ibstat_card("mlx5_12", firmware, state, rate);
}

inline std::string nvlinks(int second_gpu) {
  std::string text = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-0000-0000-0000-000000000000)\n";
  for (int link = 0; link < 18; ++link) text += "\t Link " + std::to_string(link) + ": 26.562 GB/s\n";
  text += "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-11111111-1111-1111-1111-111111111111)\n";
  for (int link = 0; link < 18; ++link)
    text += "\t Link " + std::to_string(link) + (link < second_gpu ? ": 26.562 GB/s\n" : ": <inactive>\n");
  return text;
}

inline std::string channel(const std::string& transport) {
  return "n1:100:200 [0] NCCL INFO Channel 00/0 : 9[1] -> 0[0] [receive] via NET/" + transport + "\n";
}

/// A connection over RoCE, as NCCL 2.20 to 2.26 write it.
inline std::string connected(const std::string& gid) {
  return "n1:100:200 [0] NCCL INFO NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 1047 mtu 5 query_ece={supported=1} "
         "GID " +
         gid + " fifoRkey=0x1 fifoLkey=0x1\n";
}

inline constexpr const char* kBoot =
    "[ 0.0] Linux version 6.1.0-18-amd64 (gcc-12)\n[ 9.1] NVRM: loading NVIDIA UNIX\n";
inline constexpr const char* kQuery =
    "==============NVSMI LOG==============\nAttached GPUs                             : 1\nGPU "
    "00000000:17:00.0\n"
    "    Clocks Event Reasons\n        Idle                       : Active\n    Remapped Rows\n"
    "        Correctable Error          : 0\n";
inline constexpr const char* kVersion = "n1:1:1 [0] NCCL INFO NCCL version 2.27.7+cuda12.9\n";
inline constexpr const char* kComplete =
    "n1:1:1 [0] NCCL INFO NCCL version 2.27.7+cuda12.9\n"
    "n1:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 1 - Init COMPLETE\n";
inline constexpr const char* kHeading =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 1073741824 step: 2(factor)\n#\n# Using devices\n";
inline constexpr const char* kRowAndSummary =
    "  8  2  float  sum  -1  19.9  0.00  0.00  0  18.9  0.00  0.00  0\n# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 3.94\n#\n";

inline std::string idle_state(const std::string& microseconds, const std::string& disabled) {
  const std::string state = "/sys/devices/system/cpu/cpu0/cpuidle/state2/";
  return state + "name:C6\n" + state + "latency:" + microseconds + "\n" + state + "disable:" + disabled +
         "\n";
}

inline std::string rdma_link(const std::string& lid, const std::string& manager, const std::string& state,
                             const std::string& physical) {
  return "link mlx5_7/1 subnet_prefix fe80:0000:0000:0000 lid " + lid + " sm_lid " + manager +
         " lmc 0 state " + state + " physical_state " + physical + "\n";
}

inline std::string qos(const std::string& trust) {
  return "DCBX mode: OS controlled\nPriority trust state: " + trust +
         "\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
         "\tenabled     0   0   0   1   0   0   0   0\n";
}

inline std::string fabric(const std::string& mask) {
  return "n1:1:1 [1] NCCL INFO MNNVL busId 0x901000 fabric UUID 3143.28cc cliqueId 0x7ffe state 3 "
         "healthMask " +
         mask + "\n";
}

inline constexpr const char* kMatrix =
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\t0-7\t0\nGPU1\tNV4\t X \t8-15\t1\n";
inline constexpr const char* kGids =
    "DEV\tPORT\tINDEX\tGID\t\t\tIPv4\t\tVER\tDEV\n---\t----\t-----\t---\t\t\t----\t\t---\t---\n"
    "mlx5_0\t1\t0\tfe80:0000:0000:0000:0a36:01ff\t\t\tv1\teth0\n"
    "mlx5_0\t1\t1\tfe80:0000:0000:0000:0a36:01ff\t\t\tv2\teth0\n"
    "mlx5_0\t1\t2\t0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1\tv1\teth0\n"
    "mlx5_0\t1\t3\t0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1\tv2\teth0\n";
inline constexpr const char* kLinks =
    "lo               UNKNOWN        00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP>\n"
    "eno1             UP             08:00:27:00:00:01 <BROADCAST,MULTICAST,UP,LOWER_UP>\n"
    "ib0              UP             a0:00:03:00:fe:80 <BROADCAST,MULTICAST,UP,LOWER_UP>\n";

}  // namespace collbench::topology
