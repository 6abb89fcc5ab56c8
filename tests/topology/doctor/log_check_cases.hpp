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

inline std::vector<CheckCase> cases_of_logs() {
  const std::string healthy = std::string(kComplete) + warned("NCCL INFO Using network IB");
  return {
      {"log-bridges",
       {{"", warned("NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0> [1]br-0a1b2c:172.18.0.1<0>")}},
       {{"", warned("NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0> [1]bond0:10.1.0.1<0>")}},
       "br-0a1b2c"},
      {"log-shared-memory",
       {{"",
         warned("misc/shmutils.cc:87 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-aB3 "
                "(size 9637888), error: No space left on device (28)")}},
       {{"", healthy}},
       "No space left"},
      {"log-no-interface",
       {{"", warned("bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found")}},
       {{"", healthy + warned("NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>")}},
       "no socket interface"},
      {"log-connection",
       {{"", warned("misc/socket.cc:480 NCCL WARN socketStartConnect: Connect to 172.17.0.2<38847> failed : "
                    "Software caused connection abort")}},
       {{"", healthy + warned("NCCL INFO Call to connect returned Connection refused, retrying")}},
       "172.17.0.2"},
      {"log-ranks-disagree",
       {{"",
         warned("transport/net_ib.cc:1038 NCCL WARN NET/IB : req 0/1 tag 0 peer 10.0.0.6<58683> collective "
                "mismatch error, local size 496640 remote size 65536")}},
       {{"", healthy}},
       "collective mismatch"},
      {"log-gpu-twice",
       {{"", "Last error:\nDuplicate GPU detected : rank 0 and rank 1 both on CUDA device 2000\n"}},
       {{"", healthy}},
       "rank 0 and rank 1"},
      {"log-port-error",
       {{"",
         warned("transport/net_ib.cc:178 NCCL WARN NET/IB : mlx5_3:1 Got async error event: port error")}},
       {{"", healthy + warned("NCCL INFO NET/IB : mlx5_3:1 Got async event : port active")}},
       "port error"},
      {"log-queue-pair",
       {{"", warned("misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error No such device")}},
       {{"", healthy}},
       "No such device"},
      {"log-queue-pair-refused",
       {{"", warned("misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Invalid argument "
                    "errno 22")}},
       {{"", healthy}},
       "Invalid argument"},
      {"log-device-denied",
       {{"", warned("misc/ibvwrap.cc:212 NCCL WARN Call to ibv_open_device failed")}},
       {{"", healthy}},
       "ibv_open_device"},
      {"log-no-provider",
       {{"", warned("NCCL INFO NET/OFI No eligible providers were found")}},
       {{"", warned("NCCL INFO NET/OFI No eligible providers were found") +
                 warned("NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 4 nics)")}},
       "No eligible providers"},
      {"log-many-peers",
       {{"", warned("allocator.cc:79 NCCL WARN Cuda failure 711 'peer mapping resources exhausted'")}},
       {{"", healthy}},
       "711"},
      {"log-fabric-not-ready",
       {{"",
         "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet "
         "initialized\n"}},
       {{"", healthy}},
       "802"},
      {"log-gpu-memory",
       {{"", warned("include/alloc.h:178 NCCL WARN Cuda failure 2 'out of memory'")}},
       {{"", healthy}},
       "out of memory"},
      {"log-driver-old",
       {{"",
         "CUDA error 35: CUDA driver version is insufficient for CUDA runtime version\nNCCL version "
         "2.27.7\n"}},
       {{"", healthy}},
       "insufficient"},
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
