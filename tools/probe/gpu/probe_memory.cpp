#include "tools/probe/gpu/probe_memory.hpp"

#include <fmt/format.h>

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

PinnedBuffer::PinnedBuffer(const CudaLibrary& cuda, std::uint64_t bytes) : cuda_(cuda) {
  void* memory = nullptr;
  const CudaResult result = cuda.host_allocate(&memory, bytes, kCudaHostPortable);
  if (result == CudaResult::memory_allocation)
    throw GpuRefusal{fmt::format("no {} of the host's memory can be pinned", format_bytes(bytes))};
  cuda.check(result, "cudaHostAlloc");
  memory_ = static_cast<std::byte*>(memory);
}

void check_kernel(const CudaLibrary& cuda, CudaResult result, const char* what) {
  if (result == CudaResult::no_kernel_image || result == CudaResult::unsupported_ptx) {
    throw GpuRefusal{fmt::format("the kernel library has no code that this GPU and its driver run ({})",
                                 cuda.get_error_string(result))};
  }
  cuda.check(result, what);
}

void fill_with_normal_numbers(const GpuLibraries& libraries, const DeviceBuffer& buffer, DataType type,
                              std::uint64_t seed, const CudaStream& stream) {
  check_kernel(libraries.cuda,
               static_cast<CudaResult>(
                   libraries.kernels.fill_normal(buffer.data(), buffer.bytes() / traits(type).bytes,
                                                 static_cast<std::uint32_t>(type), seed, stream.get())),
               "filling the GPU's memory");
}

}  // namespace collbench::collectives
