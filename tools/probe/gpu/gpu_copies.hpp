#pragma once
#include <cstdint>

#include "tools/probe/gpu/gpu_team.hpp"

// Copies of a GPU's probe: within its memory, to and from the host, to another GPU. Each makes its buffers on
// the current GPU, and throws GpuRefusal where memory is short.

namespace collbench::collectives {

/// cudaMemcpyAsync within the GPU's memory; bytes read and written both count, as BabelStream counts them.
[[nodiscard]] GpuWork hbm_copy_work(const GpuLibraries& libraries, std::uint64_t array_bytes);

/// a = b + 3 · c of doubles by a kernel of our own: 24 bytes an element.
[[nodiscard]] GpuWork hbm_triad_work(const GpuLibraries& libraries, std::uint64_t array_bytes);

/// Between pinned memory of the host and the GPU.
[[nodiscard]] GpuWork host_copy_work(const GpuLibraries& libraries, std::uint64_t bytes, bool to_gpu);

/// Whether `device` can reach the memory of `peer` itself.
[[nodiscard]] bool has_peer_access(const CudaLibrary& cuda, int device, int peer);

/// cudaMemcpyPeerAsync from the current GPU `device` to `peer`; with `direct`, peer access is enabled for
/// as long as the work lives.
[[nodiscard]] GpuWork peer_copy_work(const GpuLibraries& libraries, int device, int peer, std::uint64_t bytes,
                                     bool direct);

}  // namespace collbench::collectives
