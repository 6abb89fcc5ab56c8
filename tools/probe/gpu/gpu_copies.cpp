#include "tools/probe/gpu/gpu_copies.hpp"

#include <fmt/format.h>

#include <memory>

#include "tools/probe/gpu/probe_memory.hpp"

namespace collbench::collectives {
namespace {

constexpr double kTriadFactor = 3;  // as STREAM

/// The current GPU's access to the memory of another one, for as long as it lives: CUDA allows a GPU eight at
/// a time where there is no NVSwitch (CUDA C++ Programming Guide, "Peer-to-Peer Memory Access").
class PeerAccess {
 public:
  PeerAccess(const CudaLibrary& cuda, int peer) : cuda_(cuda), peer_(peer) {
    const CudaResult result = cuda.peer_enable(peer, 0);
    if (result == CudaResult::too_many_peers)
      throw GpuRefusal{fmt::format("CUDA gives the GPU access to no more peers (error {})",
                                   static_cast<int>(CudaResult::too_many_peers))};
    is_ours_ = result == CudaResult::success;
    if (result != CudaResult::peer_access_already_enabled) cuda.check(result, "cudaDeviceEnablePeerAccess");
  }
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;
  PeerAccess(PeerAccess&&) = delete;
  PeerAccess& operator=(PeerAccess&&) = delete;
  ~PeerAccess() {
    if (is_ours_) cuda_.peer_disable(peer_);
  }

 private:
  const CudaLibrary& cuda_;
  int peer_;
  bool is_ours_ = false;
};

void fill_with_doubles(const GpuLibraries& libraries, const DeviceBuffer& buffer, std::uint64_t seed,
                       const CudaStream& stream) {
  fill_with_normal_numbers(libraries, buffer, DataType::float64, seed, stream);
}

}  // namespace

GpuWork hbm_copy_work(const GpuLibraries& libraries, std::uint64_t array_bytes) {
  const auto from = std::make_shared<const DeviceBuffer>(probe_memory(libraries.cuda, array_bytes));
  const auto to = std::make_shared<const DeviceBuffer>(probe_memory(libraries.cuda, array_bytes));
  const CudaLibrary& cuda = libraries.cuda;
  return {[from, to, &cuda](const CudaStream& stream) {
            cuda.check(cuda.copy_async(to->data(), from->data(), from->bytes(), CudaCopy::device_to_device,
                                       stream.get()),
                       "cudaMemcpyAsync");
          },
          2 * static_cast<double>(array_bytes),
          [from, libraries](const CudaStream& stream) { fill_with_doubles(libraries, *from, 1, stream); }};
}

GpuWork hbm_triad_work(const GpuLibraries& libraries, std::uint64_t array_bytes) {
  struct Arrays {
    DeviceBuffer a, b, c;
  };
  const auto arrays = std::make_shared<const Arrays>(Arrays{probe_memory(libraries.cuda, array_bytes),
                                                            probe_memory(libraries.cuda, array_bytes),
                                                            probe_memory(libraries.cuda, array_bytes)});
  const CudaLibrary& cuda = libraries.cuda;
  const KernelLibrary& kernels = libraries.kernels;
  const std::uint64_t count = array_bytes / sizeof(double) / 2 * 2;
  const auto doubles = [](const DeviceBuffer& buffer) { return reinterpret_cast<double*>(buffer.data()); };
  return {[=, &cuda, &kernels](const CudaStream& stream) {
            check_kernel(
                cuda,
                static_cast<CudaResult>(kernels.triad(doubles(arrays->a), doubles(arrays->b),
                                                      doubles(arrays->c), kTriadFactor, count, stream.get())),
                "the triad");
          },
          static_cast<double>(3 * sizeof(double) * count),
          [arrays, libraries](const CudaStream& stream) {
            fill_with_doubles(libraries, arrays->b, 1, stream);
            fill_with_doubles(libraries, arrays->c, 2, stream);
          }};
}

GpuWork host_copy_work(const GpuLibraries& libraries, std::uint64_t bytes, bool to_gpu) {
  const CudaLibrary& cuda = libraries.cuda;
  const auto device = std::make_shared<const DeviceBuffer>(probe_memory(cuda, bytes));
  const auto host = std::make_shared<const PinnedBuffer>(cuda, bytes);
  return {[=, &cuda](const CudaStream& stream) {
            cuda.check(to_gpu ? cuda.copy_async(device->data(), host->data(), bytes, CudaCopy::host_to_device,
                                                stream.get())
                              : cuda.copy_async(host->data(), device->data(), bytes, CudaCopy::device_to_host,
                                                stream.get()),
                       "cudaMemcpyAsync");
          },
          static_cast<double>(bytes)};
}

bool has_peer_access(const CudaLibrary& cuda, int device, int peer) {
  int possible = 0;
  return cuda.peer_possible(&possible, device, peer) == CudaResult::success && possible != 0;
}

GpuWork peer_copy_work(const GpuLibraries& libraries, int device, int peer, std::uint64_t bytes,
                       bool direct) {
  const CudaLibrary& cuda = libraries.cuda;
  const auto access = direct ? std::make_shared<const PeerAccess>(cuda, peer) : nullptr;
  const auto from = std::make_shared<const DeviceBuffer>(probe_memory(cuda, bytes));
  cuda.check(cuda.set_device(peer), "cudaSetDevice");
  const auto to = std::make_shared<const DeviceBuffer>(probe_memory(cuda, bytes));
  cuda.check(cuda.set_device(device), "cudaSetDevice");
  return {[access, from, to, peer, device, bytes, &cuda](const CudaStream& stream) {
            cuda.check(cuda.copy_peer_async(to->data(), peer, from->data(), device, bytes, stream.get()),
                       "cudaMemcpyPeerAsync");
          },
          static_cast<double>(bytes)};
}

}  // namespace collbench::collectives
