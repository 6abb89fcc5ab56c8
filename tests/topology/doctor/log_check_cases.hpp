#pragma once
#include <string>
#include <vector>

#include "tests/topology/doctor/check_cases.hpp"
#include "topology/doctor/checks.hpp"

// For the checks of logs (of jobs and of the kernel) the same as cases() of check_cases.hpp.

namespace collbench::topology {

inline Evidence evidence_of(const std::vector<Text>& texts) {
  Evidence evidence;
  for (const Text& each : texts) add_evidence(evidence, each.text, "FILE", each.source);
  return evidence;
}

inline std::vector<std::string> found_codes(const Diagnosis& diagnosis) {
  std::vector<std::string> codes;
  for (const DoctorFinding& finding : diagnosis.findings) codes.emplace_back(finding.check.code);
  return codes;
}

/// A line of NCCL's log.
inline std::string warned(const std::string& words) { return "n1:1:1 [0] " + words + "\n"; }

/// A kernel log from the boot on that ends with the line.
inline std::string booted(const std::string& words) { return std::string(kBoot) + "[ 12.3] " + words + "\n"; }

/// What a NIC of the kernel log can and has: its lanes.
inline std::string pcie_bandwidth(const std::string& lanes) {
  return "[ 12.3] mlx5_core 0000:5e:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x" +
         lanes + " link at 0000:5d:00.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)\n";
}

/// What a PCIe port says of errors, of its own in the second form.
inline std::string port(const std::string& words) {
  return "[ 12.3] pcieport 0000:17:01.0: AER: " + words + "\n";
}
inline std::string bus_error(const std::string& severity) {
  return "[ 12.3] pcieport 0000:17:01.0: PCIe Bus Error: severity=" + severity + ", type=Data Link Layer\n";
}

/// Five ranks of one communicator, of which one took that long to load its kernels.
inline std::string init_timings(const std::string& seconds) {
  std::string log = std::string(kComplete);
  for (const char* rank : {"0", "1", "2", "3", "4"})
    log += std::string("n") + rank + ":7:7 [0] NCCL INFO Init timings - ncclCommInitRank: rank " + rank +
           " nranks 5 total 9.10 (kernels " + (*rank == '3' ? seconds : "0.20") +
           ", alloc 0.10, bootstrap 8.20, allgathers 0.40, topo 0.10, graphs 0.00, connections 0.10, rest "
           "0.00)\n";
  return log;
}

/// Sixteen ranks on two hosts: a line of each with `words` behind its rank, but of `without`.
inline std::string of_ranks(const std::string& words, int without = -1) {
  std::string log;
  for (int rank = 0; rank < 16; ++rank) {
    if (rank == without) continue;
    const std::string host = rank < 8 ? "n17" : "n18";
    log += host + ":" + std::to_string(4711 + rank) +
           ":1 [0] NCCL INFO ncclCommInitRankConfig comm 0x5 rank " + std::to_string(rank) +
           " nranks 16 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x6a2d - Init " + words + "\n";
  }
  return log;
}

/// The NICs of a host, as NCCL lists them.
inline std::string nics(const std::string& host, const std::string& list) {
  return host + ":7:7 [0] NCCL INFO NET/IB : Using " + list + " [RO]; OOB eth0:10.0.0.17<0>\n";
}

/// A connection of two GPUs of a host.
inline std::string local_channel(const std::string& way) {
  return "n1:1:1 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via " + way + "\n";
}

inline constexpr const char* kNvlinkGpu =
    "#  Rank  0 Group  0 Pid   4711 on        n17 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n";

inline std::vector<CheckCase> cases_of_logs() {
  const std::string all = kVersion + of_ranks("START") + of_ranks("COMPLETE");
  const std::string connected = "n18:4726:1 [7] NCCL INFO Connected all rings, use ring PXN 0 GDR 1\n";
  return {
      {"log-init-hang",
       {{"", kVersion + of_ranks("START", 11)}},
       {{"", all}},
       "commId 0x6a2d, 16 ranks: rank 11 did not start"},
      {"log-init-hang",
       {{"", kVersion + of_ranks("START") + of_ranks("COMPLETE", 11) + connected}},
       {{"", all + connected}},
       "rank 11 (n18:4722) did not complete"},
      {"log-init-unfinished", {{"", kVersion + of_ranks("START")}}, {{"", all}}, "none completed its start"},
      {"log-nics-unequal",
       {{"", nics("n17", "[0]mlx5_0:1/IB [1]mlx5_1:1/IB") + nics("n18", "[0]mlx5_0:1/IB")}},
       {{"", kComplete + nics("n17", "[0]mlx5_0:1/IB [1]mlx5_1:1/IB") +
                 nics("n18", "[0]rocep1:1/IB [1]rocep2:1/IB")}},
       "n18 lists 1 NICs, n17 lists 2: without mlx5_1"},
      {"log-nics-unequal",
       {{"",
         nics("n17", "[0]mlx5_0:1/IB") + nics("n18", "[0]mlx5_0:1/IB") +
             "n17:7:7 [0] NCCL INFO NET/IB: [0] mlx5_0:uverbs0:1/IB provider=Mlx5 speed=400000 context=0x55\n"
             "n18:7:7 [0] NCCL INFO NET/IB: [0] mlx5_0:uverbs0:1/IB provider=Mlx5 speed=100000 "
             "context=0x55\n"}},
       {{"", kComplete + nics("n17", "[0]mlx5_0:1/IB") + nics("n18", "[0]mlx5_0:1/IB")}},
       "n18: mlx5_0 at 100 Gb/s, on n17 400 Gb/s"},
      {"log-nvlink-unused",
       {{"", kNvlinkGpu + local_channel("SHM/direct/direct") + local_channel("SHM/direct/direct")}},
       {{"",
         std::string(kNvlinkGpu) + kComplete + local_channel("P2P/IPC") + local_channel("P2P/CUMEM/read")}},
       "2 of 2 connections within hosts"},
      {"log-nvlink-unequal",
       {{"", warned("NCCL INFO + NVL[240.0] - GPU/0-17000") + warned("NCCL INFO + NVL[20.0] - GPU/0-65000")}},
       {{"", kComplete + warned("NCCL INFO + NVL[48.0] - GPU/17000") +
                 warned("NCCL INFO + NVL[24.0] - GPU/65000") +
                 "n2:1:1 [0] NCCL INFO + NVL[480.0] - GPU/65000\n"}},
       "n1: 20 GB/s between two GPUs, and 240 GB/s"},
      {"log-link-layers",
       {{"", warned("NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.1<0>") +
                 "n1:1:2 [0] NCCL INFO NET/IB : Got completion, which failed\n"}},
       {{"",
         kVersion +
             warned("NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/IB/SHARP ; OOB eth0:10.0.0.1<0>") +
             std::string(kComplete)}},
       "mlx5_2:1/RoCE"},
      {"log-connecting",
       {{"",
         "n1:1:1 [0] NCCL INFO Call to connect returned Connection refused, retrying\n"
         "n2:1:1 [0] NCCL INFO socketPollConnect: connect to 10.0.0.1<70> returned Connection refused, "
         "retrying (2/34) after sleep for 200 msec\n"}},
       {{"", "n1:1:1 [0] NCCL INFO Call to connect returned Connection refused, retrying\n" +
                 std::string(kComplete) + "n1:1:1 [0] NCCL INFO Connected all rings\n"}},
       "2 of 2 processes"},
      {"log-beginning-lost",
       {{"", "n1:1:1 [0] NCCL INFO comm 0x5599 rank 0 nranks 16 cudaDev 0 busId 4000 - Destroy COMPLETE\n"}},
       {{"",
         std::string(kComplete) +
             "n1:1:1 [0] NCCL INFO comm 0x5599 rank 0 nranks 16 cudaDev 0 busId 4000 - Destroy COMPLETE\n"}},
       "Destroy COMPLETE"},
      {"log-init-straggler",
       {{"", init_timings("8.40")}},
       {{"", init_timings("0.90")}},
       "rank 3 (n3:7): kernels 8.40 s"},
      {"log-bridges",
       {{"", warned("NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0> [1]br-0a1b2c:172.18.0.1<0>")}},
       {{"", kVersion + warned("NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0> [1]bond0:10.1.0.1<0>")}},
       "br-0a1b2c"},
      {"driver-mismatch",
       {{"", "Failed to initialize NVML: Driver/library version mismatch\n"}},
       {{"", std::string(kQuery)}},
       "version mismatch"},
      {"driver-mismatch-logged",
       {{"", booted("NVRM: API mismatch: the client has the version 550.54.14")}},
       {{"", booted("NVRM: API mismatch: the client has the version 550.54.14") +
                 "[ 99.1] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14\n"}},
       "API mismatch"},
      {"gpu-lost",
       {{"", "[ 12.3] NVRM: GPU 0000:17:00.0: RmInitAdapter failed! (0x22:0x56:884)\n"}},
       {{"", booted("NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01")}},
       "0000:17:00.0"},
      {"peermem-refused",
       {{"", "[ 12.3] nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client\n"}},
       {{"", "[ 12.3] nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client\n"},
        {"lsmod", "virtio_net 90112 0\nnvidia_peermem 16384 0 - Live 0x0\n"}},
       "ib_register_peer_memory_client"},
      {"nic-failed",
       {{"", "[ 12.3] mlx5_core 0000:5e:00.0: device's health compromised - reached miss count\n"}},
       {{"", booted("mlx5_core 0000:5e:00.0: firmware version: 28.39.1002")}},
       "0000:5e:00.0"},
      {"cable-error",
       {{"",
         "[ 12.3] mlx5_core 0000:5e:00.0: Port module event[error]: module 0, Cable error, High "
         "Temperature\n"}},
       {{"", booted("mlx5_core 0000:5e:00.0: Port module event: module 0, Cable plugged")}},
       "High Temperature"},
      {"port-module-refused",
       {{"",
         "[ 12.3] mlx5_core 0000:5e:00.0: Port module event[error]: module 0, Cable error, One or more "
         "network "
         "ports have been powered down due to insufficient/unadvertised power on the PCIe slot. Please refer "
         "to "
         "the card's user manual\n"}},
       {{"", booted("mlx5_core 0000:5e:00.0: Port module event: module 0, Cable plugged")}},
       "have been powered down"},
      {"pcie-limited",
       {{"", pcie_bandwidth("8")}},
       {{"", std::string(kBoot) + pcie_bandwidth("16")}},
       "PCIe x8 link"},
      {"efa-registration-refused",
       {{"",
         "[ 12.3] infiniband efa_0: Failed to process command REG_MR (opcode 7) comp_status 1 err -12\n"}},
       {{"", "[ 0.0] Linux version 6.1.0 (gcc-12)\n[ 12.3] infiniband efa_0: Registered\n"}},
       "comp_status 1"},
      {"pcie-errors",
       {{"", bus_error("Uncorrected (Fatal)")}},
       {{"", "[ 0.0] Linux version 6.1.0 (gcc-12)\n" + port("enabled with IRQ 24")}},
       "0000:17:01.0, 1 time: "},
      {"pcie-errors-corrected",
       {{"",
         port("Corrected error received: 0000:17:01.0") + bus_error("Corrected") + bus_error("Correctable")}},
       {{"", "[ 0.0] Linux version 6.1.0 (gcc-12)\n" + port("enabled with IRQ 24")}},
       "0000:17:01.0, 2 times: "},
      {"pcie-errors-corrected",
       {{"", port("Multiple Corrected error received: 0000:18:00.0")}},
       {{"", "[ 0.0] Linux version 6.1.0 (gcc-12)\n" + port("enabled with IRQ 24")}},
       "0000:18:00.0, 1 time: "},
  };
}

/// cases() and cases_of_logs().
inline std::vector<CheckCase> all_cases() {
  std::vector<CheckCase> all = cases();
  for (CheckCase& each : cases_of_logs()) all.push_back(std::move(each));
  return all;
}

}  // namespace collbench::topology
