#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace collbench::simulated_gpu {

/// A GPU as CUDA and NVML report it.
struct SimulatedGpu {
  std::string pci_address;
  int index = 0;               ///< the GPU's number on its host, before CUDA_VISIBLE_DEVICES
  int compute_capability = 0;  ///< 90: 9.0
  bool nvswitch = false;       ///< whether its NVLinks go to NVSwitches, which multicast
  unsigned pci_device = 0;     ///< device × 65536 + vendor; 0 where the file does not say it
  unsigned pci_subsystem = 0;  ///< likewise
};

/// A port of a NIC as a network plugin reports it.
struct SimulatedNic {
  std::string name;
  std::string pci_path;  ///< as in /sys, where a simulated NIC is not
  int port = 1;
  int megabits_per_second = 0;
  std::uint64_t guid = 0;
  bool gpudirect = true;
  int max_connections = 0;
  float latency_microseconds = 0;
};

/// The machine that a process pretends to run on.
struct SimulatedMachine {
  std::vector<SimulatedGpu> gpus;  ///< by index
  std::vector<SimulatedNic> nics;
  /// The topology for NCCL: the file's, and a <net> with a name for each NIC that had none. Where real hosts
  /// find a NIC's facts in /sys and through its driver, a simulated one has only this.
  std::string topology_xml;
};

/// What a topology does not say.
struct AssumedFacts {
  int compute_capability = 90;
  int nic_megabits_per_second = 200000;
};

/// Reads an NCCL topology XML (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE). Throws Error (usage) with FILE:LINE,
/// also when it has no GPU.
[[nodiscard]] SimulatedMachine read_machine(std::string_view text, std::string_view file,
                                            const AssumedFacts& assumed);

}  // namespace collbench::simulated_gpu
