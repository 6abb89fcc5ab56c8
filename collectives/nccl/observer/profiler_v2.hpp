#pragma once
#include <cstddef>
#include <cstdint>

namespace collbench {

/// NCCL's profiler interface, version 2 (NCCL 2.24): names instead of numbers. Source: NVIDIA/nccl v2.24.3-1,
/// src/include/nccl_profiler.h, ncclProfilerEventDescr_v2_t.
struct ProfilerEventV2 {
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
    std::size_t traffic_bytes;
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

/// ncclProfiler_v2_t
struct ProfilerV2 {
  const char* name;
  int (*init)(void** context, int* event_mask);
  int (*start_event)(void* context, void** handle, ProfilerEventV2* event);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace collbench
