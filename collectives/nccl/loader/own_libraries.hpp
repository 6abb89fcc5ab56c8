#pragma once
#include <optional>
#include <string>
#include <vector>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/kernel_interface.hpp"
#include "collectives/nccl/observer/observer_interface.hpp"

// The two libraries that collbench brings itself. Each is COLLBENCH_KERNELS or COLLBENCH_OBSERVER, or else
// lies beside the program or in lib beside the program's folder.

namespace collbench::collectives {

/// The kernel library, reached through one table of functions.
struct KernelLibrary {
  std::string path;
  KernelSetDevice* set_device = nullptr;
  KernelFill* fill = nullptr;
  KernelCheck* check = nullptr;
  KernelFillNormal* fill_normal = nullptr;
  KernelTriad* triad = nullptr;

  /// Finds it: COLLBENCH_KERNELS, beside the program, or in lib beside the program's folder; of two the one
  /// for the driver's CUDA (major × 1000 + minor × 10; 0: not known). Throws Error (not_here) when there is
  /// none or it is another build's.
  [[nodiscard]] static KernelLibrary load(int driver_cuda);

  /// Throws as CudaLibrary::check does for `result` of one of these functions; the CUDA runtime that says it
  /// is the kernels' own.
  static void check_result(const CudaLibrary& cuda, int result, const char* what);
};

/// The files to look for, the best first: drivers of CUDA 12 run nothing that nvcc 13 made, and newer ones
/// both.
[[nodiscard]] std::vector<std::string> kernel_library_files(int driver_cuda);

/// The observer library, reached through one table of functions. NCCL loads the same file: what it tells
/// there can be asked for here.
struct ObserverLibrary {
  std::string path;
  ObserverLoadedCall* loaded = nullptr;
  ObserverBegin* begin = nullptr;
  ObserverEnd* end = nullptr;

  /// COLLBENCH_OBSERVER, beside the program, or in lib beside the program's folder. None when it is not there
  /// or is another build's: `unsupported_reason` then says so.
  [[nodiscard]] static std::optional<ObserverLibrary> find(std::string& unsupported_reason);
};

}  // namespace collbench::collectives
