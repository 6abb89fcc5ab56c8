#include "collectives/nccl/probe/probe_memory.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "base/units.hpp"

namespace collbench::collectives {

DeviceBuffer probe_memory(const CudaLibrary& cuda, std::uint64_t bytes) {
  try {
    return {cuda, bytes};
  } catch (const Error& error) {
    if (error.status() != ExitStatus::usage) throw;
    throw GpuRefusal{fmt::format("the GPU has no {} left", format_bytes(bytes))};
  }
}

void check_kernel(const CudaLibrary& cuda, CudaResult result, const char* what) {
  if (result == CudaResult::no_kernel_image || result == CudaResult::unsupported_ptx) {
    throw GpuRefusal{fmt::format("the kernel library has no code that this GPU and its driver run ({})",
                                 cuda.get_error_string(result))};
  }
  cuda.check(result, what);
}

DeviceBuffer normal_numbers(const GpuLibraries& libraries, DataType type, std::uint64_t count,
                            std::uint64_t seed) {
  DeviceBuffer buffer = probe_memory(libraries.cuda, count * traits(type).bytes);
  const CudaStream stream(libraries.cuda);
  check_kernel(libraries.cuda,
               static_cast<CudaResult>(libraries.kernels.fill_normal(
                   buffer.data(), count, static_cast<std::uint32_t>(type), seed, stream.get())),
               "filling the GPU's memory");
  while (!stream.idle()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  return buffer;
}

}  // namespace collbench::collectives
