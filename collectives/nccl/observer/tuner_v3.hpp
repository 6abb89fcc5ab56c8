#pragma once
#include <cstddef>

namespace collbench {

/// NCCL's tuner interface, version 3 (NCCL 2.22), the first that is given NCCL's cost table: `algorithms`
/// rows of `protocols` times in µs, negative for what there is not. Source: NVIDIA/nccl v2.22.3-1,
/// src/include/nccl_tuner.h, ncclTuner_v3_t.
struct TunerV3 {
  const char* name;
  int (*init)(std::size_t ranks, std::size_t nodes, void* log, void** context);
  int (*collective_info)(void* context, int function, std::size_t bytes, int operations, float** costs,
                         int algorithms, int protocols, int* channels);
  int (*destroy)(void* context);
};

}  // namespace collbench
