#pragma once
#include <cstddef>
#include <cstdint>

namespace collbench {

/// NCCL's profiler interface, version 3 (NCCL 2.26): without the bytes of a collective's traffic. Source:
/// NVIDIA/nccl v2.26.2-1, src/include/plugin/profiler/profiler_v3.h.
struct ProfilerEventV3 {
  struct Collective {
    const char* communicator;
    std::uint64_t communicator_hash;
    std::uint64_t sequence_number;
    const char* function;
    const void* send;
    void* receive;
    std::size_t count;
    int root;
    const char* data_type;
    std::uint8_t channels;  ///< the most that it may take
    std::uint8_t warps;
    const char* algorithm;
    const char* protocol;
  };
  struct PeerToPeer {
    const char* communicator;
    std::uint64_t communicator_hash;
    const char* function;
    void* buffer;
    const char* data_type;
    std::size_t count;
    int peer;
  };

  std::uint8_t type;
  void* parent;
  int rank;
  union {
    Collective collective;
    PeerToPeer peer_to_peer;
  };
};

/// ncclProfiler_v3_t
struct ProfilerV3 {
  const char* name;
  int (*init)(void** context, int* event_mask);
  int (*start_event)(void* context, void** handle, ProfilerEventV3* event);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace collbench
