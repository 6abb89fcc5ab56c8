#pragma once
#include <cstddef>

namespace collbench {

/// NCCL's tuner interface, version 4 (NCCL 2.24): is also told whether buffers are registered. Source:
/// NVIDIA/nccl v2.24.3-1, src/include/nccl_tuner.h, ncclTuner_v4_t.
struct TunerV4 {
  const char* name;
  int (*init)(std::size_t ranks, std::size_t nodes, void* log, void** context);
  int (*collective_info)(void* context, int function, std::size_t bytes, int operations, float** costs,
                         int algorithms, int protocols, int registered, int* channels);
  int (*destroy)(void* context);
};

}  // namespace collbench
