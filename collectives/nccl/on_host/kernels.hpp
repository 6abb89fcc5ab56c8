#pragma once
#include <cstdint>

#include "collectives/nccl/loader/kernel_interface.hpp"

namespace collbench::collectives {

/// A call of collbench_kernel_fill or collbench_kernel_check, whose memory the CPU can reach.
struct HostKernel {
  KernelElements elements;
  void* memory = nullptr;
  std::uint64_t first_index = 0;
  std::uint32_t tolerance = 0;
  KernelMismatch* found = nullptr;  ///< null: fill
};

/// What kernels.cu does, by DataPattern's own formulas.
void run_on_host(const HostKernel& kernel);

}  // namespace collbench::collectives
