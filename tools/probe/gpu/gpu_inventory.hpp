#pragma once
#include <cstdint>
#include <vector>

#include "collectives/nccl/cuda_gpus.hpp"
#include "tools/probe/gpu/gpu_probe.hpp"

// Which GPUs a probe finds and can use.

namespace collbench::collectives {

/// Lists what CUDA found. One that cannot be used is listed without memory, with a failure; where others hold
/// its memory, or it is theirs alone, with a note.
void add_gpus(const CudaLibrary& cuda, const std::vector<CudaGpu>& found, GpuProbeResult& result);

/// Of those of `devices` that can be asked; the greatest number where none can.
[[nodiscard]] std::uint64_t least_free_bytes(const CudaLibrary& cuda, const std::vector<int>& devices);

}  // namespace collbench::collectives
