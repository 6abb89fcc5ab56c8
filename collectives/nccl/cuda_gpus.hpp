#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "collectives/nccl/gpu_choice.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"

namespace collbench::collectives {

/// A GPU that this process can use.
struct CudaGpu {
  VisibleGpu id;
  std::string model;  ///< "NVIDIA H100 80GB HBM3"
};

/// All of them, by CUDA's index; at least one. Throws Error (not_here) as CudaLibrary::device_count, with
/// what else can be done.
[[nodiscard]] std::vector<CudaGpu> cuda_gpus(const CudaLibrary& cuda, std::string_view instead);

}  // namespace collbench::collectives
