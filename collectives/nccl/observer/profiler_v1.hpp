#pragma once
#include <cstddef>
#include <cstdint>

namespace collbench {

/// NCCL's profiler interface, version 1 (NCCL 2.23): what we read of an event's description. Source:
/// NVIDIA/nccl v2.23.4-1, src/include/nccl_profiler.h, ncclProfilerEventDescr_v1_t.
struct ProfilerEventV1 {
  struct Collective {
    const char* communicator;
    std::uint64_t communicator_hash;
    std::uint64_t sequence_number;
    std::uint8_t function;
    const void* send;
    void* receive;
    std::size_t count;
    int root;
    std::uint8_t data_type;
    std::uint32_t reduction;
    std::size_t traffic_bytes;
    std::uint8_t channels;  ///< the most that it may take
    std::uint8_t warps;
    std::uint8_t algorithm;  ///< a number of NCCL's
    std::uint8_t protocol;   ///< likewise
    int is_collnet;
    int is_nvls;
  };
  struct PeerToPeer {
    const char* communicator;
    std::uint64_t communicator_hash;
    std::uint8_t function;
    void* buffer;
    std::uint8_t data_type;
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

/// ncclProfiler_v1_t
struct ProfilerV1 {
  const char* name;
  int (*init)(void** context, int* event_mask);
  int (*start_event)(void* context, void** handle, ProfilerEventV1* event);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace collbench
