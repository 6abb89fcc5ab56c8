#pragma once
#include <string>
#include <vector>

// For each check of the doctor a text in which it finds its fault, and nearly the same of a healthy machine.

namespace collbench::topology {

/// A text, and the source that it is of; empty: recognized by its content.
struct Text {
  std::string source;
  std::string text;
};

/// What makes a check find something, and nearly the same on a healthy machine.
struct CheckCase {
  std::string code;
  std::vector<Text> red;
  std::vector<Text> green;
  std::string seen;  ///< a part of what the finding says
};

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

inline constexpr const char* kBoot =
    "[ 0.0] Linux version 6.1.0-18-amd64 (gcc-12)\n[ 9.1] NVRM: loading NVIDIA UNIX\n";
inline constexpr const char* kQuery =
    "==============NVSMI LOG==============\nAttached GPUs                             : 1\nGPU "
    "00000000:17:00.0\n"
    "    Clocks Event Reasons\n        Idle                       : Active\n    Remapped Rows\n"
    "        Correctable Error          : 0\n";
inline constexpr const char* kComplete =
    "n1:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 1 - Init COMPLETE\n";
inline constexpr const char* kHeading =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 1073741824 step: 2(factor)\n#\n# Using devices\n";
inline constexpr const char* kRowAndSummary =
    "  8  2  float  sum  -1  19.9  0.00  0.00  0  18.9  0.00  0.00  0\n# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 3.94\n#\n";

inline std::vector<CheckCase> cases() {
  const std::string modules =
      "virtio_net 90112 0 - Live 0x0\nnvidia 54566912 3 nvidia_uvm, Live 0x0\nmlx5_ib 397312 0 - Live 0x0\n";
  const std::string closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01\n";
  const std::string open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.183.01\n";
  return {
      {"acs-on",
       {{"", lspci_switch("SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+")}},
       {{"", lspci_switch("SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd-")}},
       "bridge 0000:02:08.0 above"},
      {"pcie-narrow",
       {{"", lspci_gpu("Speed 32GT/s, Width x16", "8")}},
       {{"", lspci_gpu("Speed 32GT/s, Width x8", "8")}},
       "x8, and both ends allow x16"},
      {"relaxed-ordering-off",
       {{"", lspci_nic("RlxdOrd-", "4096")}},
       {{"", lspci_nic("RlxdOrd+", "4096")}},
       "RlxdOrd-"},
      {"read-request-small",
       {{"", lspci_nic("RlxdOrd+", "512")}},
       {{"", lspci_nic("RlxdOrd+", "4096")}},
       "MaxReadReq 512"},
      {"iommu-translates",
       {{"", "BOOT_IMAGE=/vmlinuz-5.15.0 root=/dev/sda1 intel_iommu=on quiet\n"}},
       {{"", "BOOT_IMAGE=/vmlinuz-5.15.0 root=/dev/sda1 intel_iommu=on iommu=pt quiet\n"}},
       "intel_iommu=on"},
      {"virtual-bridge",
       {{"", lspci_gpu("Speed 2.5GT/s, Width x1", "1")}},
       {{"", lspci_gpu("Speed 32GT/s, Width x16", "16")}},
       "2.5 GT/s x1"},
      {"numa-balancing", {{"numa-balancing", "1\n"}}, {{"numa-balancing", "0\n"}}, "1"},
      {"memlock-limit",
       {{"lsmod", modules + "nvidia_peermem 16384 0 - Live 0x0\n"},
        {"", "Max locked memory         65536                65536                bytes\n"}},
       {{"lsmod", modules + "nvidia_peermem 16384 0 - Live 0x0\n"},
        {"", "Max locked memory         unlimited            unlimited            bytes\n"}},
       "65536"},
      {"shm-small",
       {{"", "shm  67108864  0  67108864  0% /dev/shm\n"}},
       {{"", "tmpfs  12582912000  0  12582912000  0% /dev/shm\n"}},
       "67108864"},
      {"governor", {{"governor", "powersave\n"}}, {{"governor", "performance\n"}}, "powersave"},
      {"cpuset-small",
       {{"cpus", "0-63\n"}, {"status", "Cpus_allowed_list:\t0-7\n"}},
       {{"cpus", "0-63\n"}, {"status", "Cpus_allowed_list:\t0-63\n"}},
       "8 of 64 CPUs"},
      {"xid",
       {{"", "[ 12.3] NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has fallen off the bus.\n"}},
       {{"", std::string(kBoot) + "[ 12.3] NVRM: Xid (PCI:0000:17:00): 31, pid=1, name=python, MMU Fault\n"}},
       "fallen off the bus"},
      {"xid-other",
       {{"", "[ 12.3] nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress NVRM:\n"}},
       {{"", std::string(kBoot) + "[ 12.3] NVRM: Xid (PCI:0000:17:00): 43, pid=1, name=python\n"}},
       "SXid 12028, not fatal"},
      {"driver-failed",
       {{"", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"}},
       {{"nvidia-smi-q", kQuery}},
       "has failed"},
      {"nvlink-inactive", {{"", nvlinks(14)}}, {{"", nvlinks(18)}}, "14 NVLinks active, a sibling has 18"},
      {"clock-slowdown",
       {{"nvidia-smi-q", "        HW Thermal Slowdown                            : Active\n"}},
       {{"", std::string(kQuery) + "        HW Thermal Slowdown                            : Not Active\n"}},
       "HW Thermal Slowdown"},
      {"row-remap-failed",
       {{"nvidia-smi-q", "    Remapped Rows\n        Pending                    : Yes\n"}},
       {{"", std::string(kQuery) +
                 "    ECC Mode\n        Pending                    : Yes\n    Remapped Rows\n"
                 "        Pending                    : No\n"}},
       "Pending"},
      {"peermem-missing",
       {{"lsmod", modules}, {"nvidia-module", closed}, {"kernel-version", "5.15.0-91-generic\n"}},
       {{"lsmod", modules}, {"nvidia-module", open}, {"kernel-version", "5.15.0-91-generic\n"}},
       "no DMA-BUF"},
      {"port-no-subnet",
       {{"", three_cards("28.36.1010", "Initializing", "400")}},
       {{"", three_cards("28.36.1010", "Active", "400")}},
       "INIT"},
      {"port-down",
       {{"", three_cards("28.36.1010", "Down", "400")}},
       {{"", three_cards("28.36.1010", "Active", "400")}},
       "DOWN"},
      {"link-flapping",
       {{"",
         "Aug 17 06:18:01 n1 networkd[1]: ib6: lost carrier\nAug 17 06:18:06 n1 networkd[1]: ib6: lost "
         "carrier\n"
         "Aug 17 06:18:09 n1 networkd[1]: ib6: lost carrier\n"}},
       {{"",
         std::string(kBoot) +
             "Aug 17 06:18:01 n1 networkd[1]: ib6: lost carrier\nAug 17 06:18:06 n1 networkd[1]: ib7: lost "
             "carrier\ndocker0: lost carrier\ndocker0: lost carrier\ndocker0: lost carrier\n"}},
       "ib6 lost its link 3 times"},
      {"fabric-manager-error",
       {{"",
         "[Feb 27 2025 15:10:02] [ERROR] [tid 12727] detected NVSwitch non-fatal error 12028 on fid 0\n"}},
       {{"fabric-manager-log", "[Feb 25 2025 13:59:45] [INFO] [tid 1808] multicast group 0 is freed.\n"}},
       "12028"},
      {"firmware-mixed",
       {{"", three_cards("28.35.1012", "Active", "400")}},
       {{"", three_cards("28.36.1010", "Active", "400")}},
       "1 × 28.35.1012 2 × 28.36.1010"},
      {"mtu-small",
       {{"", ibv_port("1024 (3)", "0", "Ethernet")}},
       {{"", ibv_port("4096 (5)", "0", "Ethernet")}},
       "active MTU 1024"},
      {"subnet-manager-missing",
       {{"", ibv_port("4096 (5)", "0", "InfiniBand")}},
       {{"", ibv_port("4096 (5)", "1", "InfiniBand")}},
       "sm_lid 0"},
      {"flow-control-off",
       {{"",
         "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   0   0   "
         "0   0   0\n"}},
       {{"",
         "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   "
         "0   0   0\n"}},
       "enabled"},
      {"setting-costly",
       {{"", "NCCL_IB_DISABLE=1\nNCCL_DEBUG=INFO\n"}},
       {{"environment", "NCCL_IB_DISABLE=0\nNCCL_COLLNET_ENABLE=0\nNCCL_DEBUG=INFO\n"}},
       "NCCL_IB_DISABLE=1"},
      {"setting-names-no-nic",
       {{"", three_cards("28.36.1010", "Active", "400")}, {"environment", "NCCL_IB_HCA=mlx5_10,mlx5_3\n"}},
       {{"", three_cards("28.36.1010", "Active", "400")},
        {"environment", "NCCL_IB_HCA==mlx5_10:1,mlx5_1\n"},
        {"", ibstat_card("mlx5_1", "28.36.1010", "Active", "400")}},
       "mlx5_3 is none"},
      {"nccl-defect",
       {{"", "n1:1:1 [0] NCCL INFO NCCL version 2.19.3+cuda12.2\n"}},
       {{"", "n1:1:1 [0] NCCL INFO NCCL version 2.20.3+cuda12.2\n"}},
       "2.19.3"},
      {"log-sockets", {{"", channel("Socket/0")}}, {{"", channel("IB/0/GDRDMA")}}, "NET/Socket/0"},
      {"log-no-gpudirect",
       {{"", channel("IB/0/GDRDMA") + channel("IB/1")}},
       {{"", channel("IB/0/GDRDMA") + channel("IB/1/GDRDMA")}},
       "1 of 2 connections"},
      {"log-separate-runs",
       {{"", std::string(kHeading) + kHeading + kRowAndSummary}},
       {{"", std::string(kHeading) + kRowAndSummary + kHeading + kRowAndSummary}},
       "a second heading"},
      {"log-nvls-failed",
       {{"",
         "n1:1:1 [0] transport/nvls.cc:254 NCCL WARN Cuda failure 401 'the operation cannot be "
         "performed'\n"}},
       {{"", std::string(kComplete) + "n1:1:1 [0] NCCL INFO NVLS multicast support is available on dev 0\n"}},
       "401"},
      {"log-completion-error",
       {{"",
         "n1:1:1 [0] NCCL WARN NET/IB : Got completion with error 12, opcode 0, len 0, vendor err 129\n"}},
       {{"", std::string(kComplete) + "n1:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB\n"}},
       "error 12"},
  };
}

}  // namespace collbench::topology
