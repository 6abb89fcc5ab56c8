#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collbench::collectives {

struct ProbeCore {
  int cpu = 0;   ///< its lowest hardware thread, by the kernel's number
  int numa = 0;  ///< its NUMA node; 0 where the kernel shows none

  bool operator==(const ProbeCore&) const = default;
};

/// Each of `cpus` with the node that has it, by <root>/node/node*/cpulist. `root`: /sys/devices/system.
[[nodiscard]] std::vector<ProbeCore> cores_with_nodes(const std::vector<int>& cpus,
                                                      const std::filesystem::path& root);

/// The bytes of all caches of the last level that `cores` reach, each counted once; none where the kernel
/// does not show them.
[[nodiscard]] std::optional<std::uint64_t> last_level_cache_bytes(const std::vector<ProbeCore>& cores,
                                                                  const std::filesystem::path& root);

/// "AMD EPYC", by the text of /proc/cpuinfo; of Arm, where it has numbers only, "Arm implementer 0x41, part
/// 0xd4f", of the first core. Empty where it names none.
[[nodiscard]] std::string processor_name(std::string_view cpuinfo);

}  // namespace collbench::collectives
