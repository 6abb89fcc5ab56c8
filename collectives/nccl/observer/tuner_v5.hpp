#pragma once
#include <cstddef>
#include <cstdint>

namespace collbench {

/// NCCL's tuner interface, version 5 (NCCL 2.28): is given the constants of NCCL's model, which we leave as
/// they are. Source: NVIDIA/nccl v2.28.3-1, src/include/plugin/tuner/tuner_v5.h.
struct TunerV5 {
  const char* name;
  int (*init)(void** context, std::uint64_t communicator_hash, std::size_t ranks, std::size_t nodes,
              void* log, void* nvlink_domains, void* constants);
  int (*collective_info)(void* context, int function, std::size_t bytes, int operations, float** costs,
                         int algorithms, int protocols, int registered, int* channels);
  int (*finalize)(void* context);
};

}  // namespace collbench
