#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/telemetry/gpu_reading.hpp"

namespace collbench::topology {

struct ErrorCounters {
  std::string host;
  double unix_seconds = 0;
  std::map<std::string, std::uint64_t> counts;  ///< by "DEVICE COUNTER": "mlx5_0/1 symbol_error"
  std::vector<std::string> notes;               ///< what could not be read, and why
  std::vector<std::string> gpu_models{};  ///< of each GPU that the driver lists; empty: none, or not known
};

/// Xids that a program causes itself, or its end (NVIDIA, "Xid Errors"): no sign of broken hardware.
inline constexpr std::array<int, 4> kXidsOfPrograms{13, 31, 43, 45};

/// What the kernel counts below `root`, which is /sys or a copy of it: errors of InfiniBand's and RoCE's
/// ports (class/infiniband/DEVICE/ports/PORT/{counters,hw_counters}), lost carriers of network interfaces
/// that are devices or stand for one in a container (veth, macvlan, vlan; no port of a bridge), errors of
/// each PCI function (aer_dev_{correctable,nonfatal,fatal}), and of memory (EDAC). Files that cannot be read
/// are left out; a class of devices that is not there is noted.
[[nodiscard]] ErrorCounters read_error_counters(const std::filesystem::path& root);

/// "kernel Xid": the lines of a kernel log about Xids but those of kXidsOfPrograms.
void count_xids(ErrorCounters& counters, std::string_view kernel_log);

/// "GPU 0000:01:00.0 ecc_uncorrected", "… pcie_replays", what the driver reports of them.
void count_gpu_errors(ErrorCounters& counters, const std::vector<GpuReading>& gpus);

/// "GPU 0 NVLink 3 CRC Errors", of the text of `nvidia-smi nvlink -e`; lines of other forms are passed over.
void count_nvlink_errors(ErrorCounters& counters, std::string_view nvlink_errors);

/// All of these of this host: /sys, the kernel log (dmesg) and, where there is an nvidia-smi, its GPUs.
[[nodiscard]] ErrorCounters live_error_counters();

/// One line of JSON, so that what several hosts print can be told apart, and back. Throws Error (usage) that
/// names the place in `file`.
[[nodiscard]] std::string error_counters_json(const ErrorCounters& counters);
[[nodiscard]] ErrorCounters error_counters_from_json(std::string_view text, const std::string& file);

}  // namespace collbench::topology
