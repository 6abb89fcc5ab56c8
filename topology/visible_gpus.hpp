#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collbench {

/// The GPUs that a value of CUDA_VISIBLE_DEVICES shows a process, in its order: indices, UUIDs ("GPU-…", also
/// their start), MIG devices ("MIG-…"). As CUDA does, what follows an invalid entry (-1, a word) is cut off,
/// and an empty value shows none. None when the variable is not set: then all are visible.
/// Source: CUDA C++ programming guide, CUDA environment variables.
[[nodiscard]] std::optional<std::vector<std::string>> visible_gpus(const char* cuda_visible_devices);

/// Whether an entry is an index, which says little: CUDA counts the fastest first unless CUDA_DEVICE_ORDER
/// says otherwise, and under task/cgroup every task's only GPU is 0.
[[nodiscard]] bool is_gpu_index(std::string_view entry);

}  // namespace collbench
