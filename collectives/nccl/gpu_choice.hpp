#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/record/identities.hpp"

namespace collbench::collectives {

struct CudaLibrary;

/// One GPU as CUDA shows it to a process.
struct VisibleGpu {
  std::string address;  ///< PCI, "0000:18:00.0"
  std::string uuid;     ///< "GPU-…"; empty when CUDA does not tell

  bool operator==(const VisibleGpu&) const = default;
};

/// By rank, the index of its GPU in its own list.
struct GpuChoice {
  std::vector<int> device;
  bool shared = false;  ///< some ranks work on the same GPU
};

/// A GPU for every rank, by what each of them sees (`visible`, by rank), never by numbers: under Slurm each
/// task's only GPU may be 0. Ranks of a node that see the same GPUs take them in turn. Throws Error
/// (not_here) that names two ranks and their GPU when there are not enough, unless `share`.
[[nodiscard]] GpuChoice choose_gpus(const Identities& identities,
                                    const std::vector<std::vector<VisibleGpu>>& visible, bool share,
                                    bool inside_slurm);

/// A GPU that this process can use.
struct CudaGpu {
  VisibleGpu id;
  std::string model;  ///< "NVIDIA H100 80GB HBM3"
};

/// All of them, by CUDA's index; at least one. Throws Error (not_here) as CudaLibrary::device_count, with
/// what else can be done.
[[nodiscard]] std::vector<CudaGpu> cuda_gpus(const CudaLibrary& cuda, std::string_view instead);

}  // namespace collbench::collectives
