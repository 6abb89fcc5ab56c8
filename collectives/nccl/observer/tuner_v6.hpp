#pragma once
#include <cstddef>
#include <cstdint>

namespace collbench {

/// NCCL's tuner interface, version 6 (NCCL 2.30): may choose the size of chunks, which we leave to NCCL
/// (null). Source: NVIDIA/nccl v2.30.3-1, src/include/plugin/tuner/tuner_v6.h.
struct TunerV6 {
  const char* name;
  int (*init)(void** context, std::uint64_t communicator_hash, std::size_t ranks, std::size_t nodes,
              void* log, void* nvlink_domains, void* constants);
  int (*collective_info)(void* context, int function, std::size_t bytes, int operations, float** costs,
                         int algorithms, int protocols, int registered, int* channels);
  int (*finalize)(void* context);
  int (*chunk_size)(void* context, int function, std::size_t bytes, int algorithm, int protocol, int channels,
                    std::size_t* chunk_bytes);
};

}  // namespace collbench
