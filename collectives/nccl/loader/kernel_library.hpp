#pragma once
#include <string>

#include "collectives/nccl/loader/kernel_interface.hpp"

namespace collbench::collectives {

/// The kernel library, reached through one table of functions.
struct KernelLibrary {
  std::string path;
  KernelSetDevice* set_device = nullptr;
  KernelFill* fill = nullptr;
  KernelCheck* check = nullptr;

  /// Finds it: COLLBENCH_KERNELS, beside the program, or in lib beside the program's folder. Throws Error
  /// (not_here) when there is none or it is another build's.
  [[nodiscard]] static KernelLibrary load();
};

}  // namespace collbench::collectives
