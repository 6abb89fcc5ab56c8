#include "tools/probe/gpu/gpu_inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace collbench::collectives {

void add_gpus(const CudaLibrary& cuda, const std::vector<CudaGpu>& found, GpuProbeResult& result) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    ProbeGpu gpu{.name = fmt::format("GPU {}", i),
                 .model = found[i].model,
                 .uuid = found[i].id.uuid,
                 .address = found[i].id.address};
    std::size_t free = 0;
    std::size_t total = 0;
    const char* call = "cudaSetDevice";
    CudaResult status = cuda.set_device(static_cast<int>(i));
    if (status == CudaResult::success) {
      call = "cudaMemGetInfo";
      status = cuda.memory_info(&free, &total);
    }
    if (status == CudaResult::success) {
      gpu.memory_bytes = total;
    } else {
      const std::string what = fmt::format("{} failed: {}", call, cuda.get_error_string(status));
      if (status == CudaResult::memory_allocation || status == CudaResult::devices_unavailable)
        result.notes.push_back(fmt::format("{}: not run: another process may have it: {}", gpu.name, what));
      else
        result.failures.push_back({gpu.name, "its first use", what});
    }
    result.gpus.push_back(std::move(gpu));
  }
}

std::uint64_t least_free_bytes(const CudaLibrary& cuda, const std::vector<int>& devices) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const int device : devices) {
    std::size_t free = 0;
    std::size_t total = 0;
    if (cuda.set_device(device) != CudaResult::success ||
        cuda.memory_info(&free, &total) != CudaResult::success)
      continue;
    least = std::min<std::uint64_t>(least, free);
  }
  return least;
}

}  // namespace collbench::collectives
