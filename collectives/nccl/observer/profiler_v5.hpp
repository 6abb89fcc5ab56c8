#pragma once
#include <cstddef>
#include <cstdint>

namespace collbench {

/// NCCL's profiler interface, version 5 (NCCL 2.28): types of events take more than 8 bits, and an event may
/// belong to a call. Source: NVIDIA/nccl v2.28.3-1, src/include/plugin/profiler/profiler_v5.h.
struct ProfilerEventV5 {
  struct Collective {
    std::uint64_t sequence_number;
    const char* function;
    const void* send;
    void* receive;
    std::size_t count;
    int root;
    const char* data_type;
    std::uint8_t channels;
    std::uint8_t warps;
    const char* algorithm;
    const char* protocol;
    void* group;
  };
  struct PeerToPeer {
    const char* function;
    void* buffer;
    const char* data_type;
    std::size_t count;
    int peer;
    std::uint8_t channels;
    void* group;
  };

  std::uint64_t type;
  void* parent;
  int rank;
  union {
    Collective collective;
    PeerToPeer peer_to_peer;
  };
};

/// ncclProfiler_v5_t
struct ProfilerV5 {
  const char* name;
  int (*init)(void** context, std::uint64_t communicator_hash, int* event_mask, const char* communicator,
              int nodes, int ranks, int rank, void* log);
  int (*start_event)(void* context, void** handle, ProfilerEventV5* event);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace collbench
