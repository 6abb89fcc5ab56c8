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

inline std::vector<CheckCase> cases_of_logs() {
  return {
      {"log-link-layers",
       {{"", warned("NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.1<0>") +
                 "n1:1:2 [0] NCCL INFO NET/IB : Got completion from peer 10.0.0.2<40> with status=12\n"}},
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
  };
}

/// cases() and cases_of_logs().
inline std::vector<CheckCase> all_cases() {
  std::vector<CheckCase> all = cases();
  for (CheckCase& each : cases_of_logs()) all.push_back(std::move(each));
  return all;
}

}  // namespace collbench::topology
