#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// "0-13,28-41" to numbers, ascending and without repeats; none when it is no such list ("-31,64-95").
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// A mask of 32-bit words, most significant first, to numbers: "00ff,ffff0000", "0x0000000f,,0x3" (hwloc
/// leaves zero words out), or one long word. None when it is no mask.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_mask(std::string_view text);

/// The canonical list: "0-13,28-41".
[[nodiscard]] std::string format_cpu_list(const std::vector<int>& cpus);

/// NCCL's spelling: words of eight digits, most significant first.
[[nodiscard]] std::string format_cpu_mask(const std::vector<int>& cpus);

/// The CPUs at the device, as nvidia-smi or its NUMA node says; empty where neither does.
[[nodiscard]] std::vector<int> local_cpus(const Host& host, const Device& device);

}  // namespace collbench::topology
