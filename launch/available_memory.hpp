#pragma once
#include <cstdint>
#include <filesystem>

namespace collbench::launch {

/// Bytes that this process may still take: what the host can give without swapping (MemAvailable, proc(5)),
/// or less where a control group that it is in, or one above that, has less left, of version 1 or 2. What the
/// kernel drops before a group runs out, files that it has cached, counts as left. 0: not known; never 0
/// where a group is full. The files are those below `root`.
[[nodiscard]] std::uint64_t available_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace collbench::launch
