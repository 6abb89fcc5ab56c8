#pragma once
#include <string_view>

namespace collbench::topology {

/// A rate in GB/s (1e9 bytes), one direction, and where the number comes from.
struct LinkRate {
  double gigabytes_per_second = 0;
  std::string_view source;
};

inline constexpr std::string_view kNcclRates = "NCCL 2.30 src/graph/topo.h";

/// A PCIe link as NCCL counts it. `gigatransfers_per_second` per lane: 2.5 to 64, another rate counts as 8;
/// `width` 0 (not known) counts as 16. Both are NCCL's rules.
[[nodiscard]] LinkRate pcie_rate(double gigatransfers_per_second, int width);

/// The same for a link of which only the rate of all lanes after coding is known (hwloc).
[[nodiscard]] LinkRate pcie_rate_of_coded(double gigabytes_per_second);

/// PCIe generation of a rate per lane: 5 for 32 GT/s; 0 for none.
[[nodiscard]] int pcie_generation(double gigatransfers_per_second);

/// Rate per lane of a PCIe generation, in GT/s; 0 for none.
[[nodiscard]] double pcie_gigatransfers(int generation);

/// Between two sockets, by the CPU's vendor ("GenuineIntel", "AuthenticAMD", "IBM"), architecture and model
/// number as CPUID gives them.
[[nodiscard]] LinkRate cpu_interconnect_rate(std::string_view architecture, std::string_view vendor,
                                             int model);

[[nodiscard]] LinkRate nic_rate(double gigabits_per_second);

}  // namespace collbench::topology
