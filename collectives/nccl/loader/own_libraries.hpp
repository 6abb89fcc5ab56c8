#pragma once
#include <optional>
#include <string>

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

  /// Finds it: COLLBENCH_KERNELS, beside the program, or in lib beside the program's folder. Throws Error
  /// (not_here) when there is none or it is another build's.
  [[nodiscard]] static KernelLibrary load();

  /// Throws as CudaLibrary::check does for `result` of one of these functions; the CUDA runtime that says it
  /// is the kernels' own.
  static void check_result(const CudaLibrary& cuda, int result, const char* what);
};

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
