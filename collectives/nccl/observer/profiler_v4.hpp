#pragma once
#include <cstddef>
#include <cstdint>

namespace collbench {

/// NCCL's profiler interface, version 4 (NCCL 2.27): the communicator is named once, at the beginning, and
/// channels are those that are taken. Source: NVIDIA/nccl v2.27.3-1,
/// src/include/plugin/profiler/profiler_v4.h.
struct ProfilerEventV4 {
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
  };
  struct PeerToPeer {
    const char* function;
    void* buffer;
    const char* data_type;
    std::size_t count;
    int peer;
    std::uint8_t channels;
  };

  std::uint8_t type;
  void* parent;
  int rank;
  union {
    Collective collective;
    PeerToPeer peer_to_peer;
  };
};

/// ncclProfiler_v4_t
struct ProfilerV4 {
  const char* name;
  int (*init)(void** context, int* event_mask, const char* communicator, std::uint64_t communicator_hash,
              int nodes, int ranks, int rank, void* log);
  int (*start_event)(void* context, void** handle, ProfilerEventV4* event);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace collbench
